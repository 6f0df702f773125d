import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import org.apache.http.client.config.RequestConfig;
import org.apache.http.client.methods.CloseableHttpResponse;
import org.apache.http.client.methods.HttpGet;
import org.apache.http.impl.client.CloseableHttpClient;
import org.apache.http.impl.client.HttpClientBuilder;
import org.apache.http.impl.conn.PoolingHttpClientConnectionManager;
import org.apache.http.util.EntityUtils;

/**
 * Calls a URL through Apache HttpClient 4.5 as an application does: each call from a thread of its own at its planned time, all
 * through one pool. Every line of the input is a job: id, URL, the pool's size, from how many ms of idleness on it looks
 * (-1: never), whether automatic retries are on, and the calls' times in ms since the first. Every line of the output says how
 * many calls there were, how many failed, with what, how late the latest one left, and of each call when it left since the first
 * and how long it took, in microseconds, and whether it failed (1).
 */
final class Bursts {
    public static void main(String[] args) throws Exception {
        List<Thread> jobs = new ArrayList<>();
        warm = new CountDownLatch(1);
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            String[] job = line.split("\t");
            if (jobs.isEmpty()) {
                warmUp(job);
            }
            long later = 70_000_000L * jobs.size(); // two jobs' bursts would wait for each other's threads
            jobs.add(new Thread(() -> {
                try {
                    play(job, later);
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            }));
        }
        for (Thread t : jobs) {
            t.start();
        }
        Thread.sleep(1500); // until all their threads wait for it
        start = System.nanoTime() + 200_000_000L;
        warm.countDown();
        for (Thread t : jobs) {
            t.join();
        }
        System.exit(0); // the clients' threads
    }

    private static CountDownLatch warm;
    private static volatile long start;

    /** Loads the classes, and lets the server have its first calls. */
    private static void warmUp(String[] job) throws Exception {
        try (CloseableHttpClient client = client(job)) {
            for (int round = 0; round < 5; round++) {
                List<Thread> calls = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    Thread t = new Thread(() -> call(client, job[1], 0, new long[3]));
                    t.start();
                    calls.add(t);
                }
                for (Thread t : calls) {
                    t.join();
                }
            }
        }
    }

    private static CloseableHttpClient client(String[] job) {
        PoolingHttpClientConnectionManager manager = new PoolingHttpClientConnectionManager();
        manager.setMaxTotal(Integer.parseInt(job[2]));
        manager.setDefaultMaxPerRoute(Integer.parseInt(job[2]));
        manager.setValidateAfterInactivity(Integer.parseInt(job[3]));
        HttpClientBuilder builder = HttpClientBuilder.create().setConnectionManager(manager)
            .setDefaultRequestConfig(RequestConfig.custom().setConnectTimeout(10_000).setSocketTimeout(10_000).build());
        if (!job[4].equals("retries")) {
            builder.disableAutomaticRetries();
        }
        return builder.build();
    }

    private static void play(String[] job, long later) throws Exception {
        CloseableHttpClient client = client(job);
        TreeMap<String, Integer> errors = new TreeMap<>();
        String[] times = job[5].split(",");
        long[][] left = new long[times.length][3];
        List<Thread> calls = new ArrayList<>();
        for (int i = 0; i < times.length; i++) {
            long offset = Long.parseLong(times[i]) * 1_000_000L;
            long[] mine = left[i];
            Thread t = new Thread(() -> {
                awaitStart();
                String error = call(client, job[1], start + later + offset, mine);
                synchronized (errors) {
                    if (error != null) {
                        errors.merge(error, 1, Integer::sum);
                    }
                }
            }, job[0]);
            t.start();
            calls.add(t);
        }
        for (Thread t : calls) {
            t.join();
        }
        long late = 0;
        StringBuilder log = new StringBuilder();
        for (int i = 0; i < times.length; i++) {
            late = Math.max(late, left[i][0] - start - later - Long.parseLong(times[i]) * 1_000_000L);
            log.append(i > 0 ? "," : "").append("[" + (left[i][0] - start - later) / 1000 + "," + left[i][1] / 1000 + "," + left[i][2] + "]");
        }
        print(job[0], times.length, errors, "\"late_ms\":" + late / 1_000_000 + ",\"left_us\":[" + log + "]");
    }

    private static void awaitStart() {
        try {
            warm.await();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** What the call threw; null: it was answered. */
    private static String call(CloseableHttpClient client, String url, long at, long[] left) {
        try {
            long wait = at - System.nanoTime();
            if (wait > 0) {
                Thread.sleep(wait / 1_000_000, (int) (wait % 1_000_000));
            }
            left[0] = System.nanoTime();
            get(client, url);
            return null;
        } catch (Exception e) {
            left[2] = 1;
            return e.getClass().getName();
        } finally {
            left[1] = System.nanoTime() - left[0];
        }
    }

    private static void get(CloseableHttpClient client, String url) throws Exception {
        try (CloseableHttpResponse answer = client.execute(new HttpGet(url))) {
            EntityUtils.consume(answer.getEntity());
        }
    }

    private static void print(String id, int calls, TreeMap<String, Integer> errors, String more) {
        int failed = 0;
        StringBuilder list = new StringBuilder();
        for (String name : errors.keySet()) {
            failed += errors.get(name);
            list.append(list.length() > 0 ? "," : "").append('"').append(name).append("\":").append(errors.get(name));
        }
        synchronized (System.out) {
            System.out.println("{\"id\":\"" + id + "\",\"calls\":" + calls + ",\"failed\":" + failed + "," + more
                + ",\"errors\":{" + list + "}}");
        }
    }
}
