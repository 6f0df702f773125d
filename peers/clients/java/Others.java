import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import okhttp3.ConnectionPool;
import okhttp3.MediaType;
import okhttp3.OkHttpClient;
import okhttp3.Request;
import okhttp3.RequestBody;
import okhttp3.Response;

/** OkHttp, and the two clients of the JDK. */
final class Others {
    static Clients.Caller okHttp(Clients.Job job) throws Exception {
        OkHttpClient.Builder builder = new OkHttpClient.Builder(); // setting: okhttp max_idle, retry
        if (job.is("retries_off")) {
            builder.retryOnConnectionFailure(false);
        }
        if (job.is("h2")) {
            builder.sslSocketFactory(Trusting.context().getSocketFactory(), Trusting.MANAGER).hostnameVerifier((host, session) -> true);
        }
        OkHttpClient client = builder.connectTimeout(job.timeoutMillis(), TimeUnit.MILLISECONDS)
            .readTimeout(job.timeoutMillis(), TimeUnit.MILLISECONDS).build();
        return (method, url) -> {
            RequestBody body = method.equals("POST") ? RequestBody.create(MediaType.parse("application/json"), "{}") : null;
            try (Response answer = client.newCall(new Request.Builder().url(url).method(method, body).build()).execute()) {
                answer.body().bytes();
                return answer.code();
            }
        };
    }

    static Clients.Caller jdk(Clients.Job job) throws Exception {
        Duration timeout = Duration.ofMillis(job.timeoutMillis());
        HttpClient.Builder builder = HttpClient.newBuilder().connectTimeout(timeout); // HTTP/2 over TLS is its own choice
        if (job.is("h2")) {
            builder.sslContext(Trusting.context());
        }
        HttpClient client = builder.build();
        return (method, url) -> {
            HttpRequest.BodyPublisher body = method.equals("POST")
                ? HttpRequest.BodyPublishers.ofString("{}") : HttpRequest.BodyPublishers.noBody();
            HttpRequest request = HttpRequest.newBuilder(URI.create(url)).timeout(timeout).method(method, body).build();
            return client.send(request, HttpResponse.BodyHandlers.ofString()).statusCode();
        };
    }

    /** The JVM has one pool for all of them, by host and port: a job needs a server of its own. */
    static Clients.Caller urlConnection(Clients.Job job) {
        return (method, url) -> {
            HttpURLConnection connection = (HttpURLConnection) new URL(url).openConnection();
            connection.setConnectTimeout(job.timeoutMillis());
            connection.setReadTimeout(job.timeoutMillis());
            connection.setRequestMethod(method);
            if (method.equals("POST")) {
                connection.setDoOutput(true);
                connection.getOutputStream().write("{}".getBytes(StandardCharsets.UTF_8));
            }
            int status = connection.getResponseCode();
            try (InputStream body = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
                if (body != null) {
                    body.readAllBytes();
                }
            }
            return status;
        };
    }
}
