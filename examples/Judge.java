// Java 17 or newer, nothing to install: java Judge.java. Over HTTP, so the server has PRECIS_HTTP__ENABLED=true.
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.util.regex.Pattern;

class Judge {
    public static void main(String[] arguments) throws Exception {
        String address = System.getenv().getOrDefault("PRECIS_HTTP_URL", "http://127.0.0.1:8080");
        String body = """
            {"source": "Repairs cost 4.2 million dollars.", "summary": "Repairs cost 42 million dollars."}""";
        HttpRequest request = HttpRequest.newBuilder(URI.create(address + "/v1/judge"))
            .header("content-type", "application/json")
            .POST(HttpRequest.BodyPublishers.ofString(body))
            .build();
        String answer = HttpClient.newHttpClient().send(request, BodyHandlers.ofString()).body();
        var score = Pattern.compile("HALLUCINATION[^}]*?\"score\":([\\d.]+)").matcher(answer);
        System.out.println(score.find() ? "hallucination " + score.group(1) : answer);
    }
}
