"""What endpoints really send, played against summaries: how many oddities end, pollute or halve one?"""
