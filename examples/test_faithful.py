"""Run with pytest: the fixture comes with the client. PRECIS_ADDRESS names the server."""

SOURCE = "The bridge will close for nine months. Repairs cost 4.2 million dollars."


def test_the_summary_keeps_to_its_source(assert_faithful):
    assert_faithful(SOURCE, "The bridge will be closed for nine months.", minimum=7)
