import java.io.IOException;
import org.apache.http.impl.client.CloseableHttpClient;
import org.springframework.http.HttpEntity;
import org.springframework.http.HttpMethod;
import org.springframework.http.client.HttpComponentsClientHttpRequestFactory;
import org.springframework.web.client.RestTemplate;

/** Spring's RestTemplate around another client. */
final class Spring {
    /** The interceptor stands where a retry layer inside of RestTemplate stands: inside[0] is what it sees. */
    static Clients.Caller restTemplate(CloseableHttpClient client, Throwable[] inside) {
        RestTemplate template = new RestTemplate(new HttpComponentsClientHttpRequestFactory(client));
        template.getInterceptors().add((request, body, execution) -> {
            try {
                return execution.execute(request, body);
            } catch (IOException | RuntimeException e) {
                inside[0] = e;
                throw e;
            }
        });
        return (method, url) -> {
            HttpEntity<String> body = new HttpEntity<>(method.equals("POST") ? "{}" : null);
            return template.exchange(url, HttpMethod.valueOf(method), body, String.class).getStatusCodeValue();
        };
    }
}
