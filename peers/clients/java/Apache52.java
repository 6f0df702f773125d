import org.apache.hc.client5.http.classic.methods.HttpUriRequestBase;
import org.apache.hc.client5.http.config.ConnectionConfig;
import org.apache.hc.client5.http.config.RequestConfig;
import org.apache.hc.client5.http.impl.DefaultHttpRequestRetryStrategy;
import org.apache.hc.client5.http.impl.classic.CloseableHttpClient;
import org.apache.hc.client5.http.impl.classic.HttpClientBuilder;
import org.apache.hc.client5.http.impl.io.PoolingHttpClientConnectionManager;
import org.apache.hc.core5.http.io.entity.EntityUtils;
import org.apache.hc.core5.http.io.entity.StringEntity;
import org.apache.hc.core5.util.TimeValue;
import org.apache.hc.core5.util.Timeout;

/** Apache HttpClient 5.2, the classic one, with a pooling connection manager. */
@SuppressWarnings("deprecation") // the old place of the connect timeout leaves the new one to a setting
final class Apache52 {
    static Clients.Caller caller(Clients.Job job) {
        Timeout timeout = Timeout.ofMilliseconds(job.timeoutMillis());
        PoolingHttpClientConnectionManager manager = new PoolingHttpClientConnectionManager();
        HttpClientBuilder builder = HttpClientBuilder.create(); // setting: apache-httpclient-5.2 max_idle, retry
        builder.setConnectionManager(manager); // setting: apache-httpclient-5.2 validate
        builder.setDefaultRequestConfig(
            RequestConfig.custom().setConnectTimeout(timeout).setResponseTimeout(timeout).build());
        if (job.is("retries_off")) {
            builder.disableAutomaticRetries();
        }
        CloseableHttpClient client = builder.build();
        return (method, url) -> {
            HttpUriRequestBase request = new HttpUriRequestBase(method, java.net.URI.create(url));
            if (method.equals("POST")) {
                request.setEntity(new StringEntity("{}"));
            }
            return client.execute(request, answer -> {
                EntityUtils.consume(answer.getEntity());
                return answer.getCode();
            });
        };
    }
}
