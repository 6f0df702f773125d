import java.nio.charset.StandardCharsets;
import org.apache.http.client.config.RequestConfig;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.RequestBuilder;
import org.apache.http.entity.StringEntity;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.DefaultHttpRequestRetryHandler;
import org.apache.http.impl.client.HttpClientBuilder;
import org.apache.http.impl.conn.PoolingHttpClientConnectionManager;
import org.apache.http.util.EntityUtils;

/** Apache HttpClient 4.5 with a pooling connection manager. */
final class Apache45 {
    static CloseableHttpClient client(Clients.Job job) {
        PoolingHttpClientConnectionManager manager = new PoolingHttpClientConnectionManager();
        HttpClientBuilder builder = HttpClientBuilder.create(); // setting: apache-httpclient-4.5 max_idle, retry
        RequestConfig timeouts = RequestConfig.custom()
            .setConnectTimeout(job.timeoutMillis()).setSocketTimeout(job.timeoutMillis()).build();
        builder.setConnectionManager(manager); // setting: apache-httpclient-4.5 validate
        builder.setDefaultRequestConfig(timeouts);
        if (job.is("retries_off")) {
            builder.disableAutomaticRetries();
        }
        return builder.build();
    }

    static Clients.Caller caller(Clients.Job job) {
        CloseableHttpClient client = client(job);
        return (method, url) -> {
            RequestBuilder request = RequestBuilder.create(method).setUri(url);
            if (method.equals("POST")) {
                request.setEntity(new StringEntity("{}", StandardCharsets.UTF_8));
            }
            try (CloseableHttpResponse answer = client.execute(request.build())) {
                EntityUtils.consume(answer.getEntity());
                return answer.getStatusLine().getStatusCode();
            }
        };
    }
}
