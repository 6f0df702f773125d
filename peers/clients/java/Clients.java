import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Semaphore;

/**
 * Runs Java's HTTP clients against servers that misbehave and says what each made of it. Every line of the input is a job
 * (see Job.read) or, with the argument "classes", a class and what it is said to be. Every line of the output is JSON.
 */
final class Clients {
    /** One HTTP client with a pool of its own. */
    interface Caller {
        /** Sends one request, reads the whole answer and returns its status. */
        int call(String method, String url) throws Exception;
    }

    /** What one job asks for. */
    record Job(String id, String client, Set<String> variants, String url, String method, int idleMillis, int timeoutMillis) {
        static Job read(String line) {
            String[] f = line.split("\t", -1);
            return new Job(f[0], f[1], Set.of(f[2].split(",")), f[3], f[4], Integer.parseInt(f[5]), Integer.parseInt(f[6]));
        }

        boolean is(String variant) {
            return variants.contains(variant);
        }
    }

    // The JVM starts slowly: few clients are made at a time, so that those which wait wake up on time.
    private static final Semaphore starting = new Semaphore(6);

    public static void main(String[] args) throws Exception {
        boolean classes = args.length > 0 && args[0].equals("classes");
        List<Thread> threads = new ArrayList<>();
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        for (String line; (line = in.readLine()) != null; ) {
            if (classes) {
                System.out.println(related(line.split("\t")));
                continue;
            }
            Job job = Job.read(line);
            Thread t = new Thread(() -> play(job));
            t.start();
            threads.add(t);
        }
        for (Thread t : threads) {
            t.join();
        }
        System.exit(0); // clients keep threads of their own
    }

    /** Warms a connection, leaves it idle, uses it again and prints what came of it. */
    private static void play(Job job) {
        Throwable[] inside = new Throwable[1]; // what a layer inside of a wrapper sees
        long warmed = 0, sent = 0;
        int status = 0;
        Throwable error = null;
        try {
            Caller caller;
            starting.acquire();
            try {
                caller = make(job, inside);
                if (!job.is("cold")) {
                    caller.call("GET", job.url() + "/warm");
                    warmed = System.currentTimeMillis();
                }
            } finally {
                starting.release();
            }
            Thread.sleep(job.idleMillis());
            sent = System.currentTimeMillis();
            status = caller.call(job.method(), job.url() + "/again");
        } catch (Throwable e) {
            error = e;
        }
        String line = "{\"id\":" + quote(job.id()) + ",\"warmed\":" + warmed + ",\"sent\":" + sent
            + ",\"done\":" + System.currentTimeMillis() + ",\"status\":" + status
            + thrown("error", error) + thrown("inside", inside[0]) + "}";
        synchronized (System.out) {
            System.out.println(line);
        }
    }

    private static Caller make(Job job, Throwable[] inside) throws Exception {
        switch (job.client()) {
            case "apache-httpclient-4.5":
                return job.is("resttemplate") ? Spring.restTemplate(Apache45.client(job), inside) : Apache45.caller(job);
            case "apache-httpclient-5.2":
                return Apache52.caller(job);
            case "okhttp":
                return Others.okHttp(job);
            case "jdk-httpclient":
                return Others.jdk(job);
            case "httpurlconnection":
                return Others.urlConnection(job);
            default:
                throw new IllegalArgumentException("no client is called " + job.client());
        }
    }

    /** The error's classes, from its own up, and its text. */
    private static String thrown(String key, Throwable e) {
        if (e == null) {
            return "";
        }
        StringBuilder s = new StringBuilder(",\"" + key + "\":{\"names\":");
        s.append(list(kinds(e.getClass()))).append(",\"text\":").append(quote(String.valueOf(e.getMessage())));
        s.append(",\"causes\":");
        Set<String> causes = new LinkedHashSet<>();
        for (Throwable c = e.getCause(); c != null; c = c.getCause()) {
            causes.add(c.getClass().getName());
        }
        return s.append(list(causes)).append("}").toString();
    }

    private static Set<String> kinds(Class<?> c) {
        Set<String> names = new LinkedHashSet<>();
        for (; c != null; c = c.getSuperclass()) {
            names.add(c.getName());
        }
        return names;
    }

    /** Whether a class can be loaded, and what it is. */
    private static String related(String[] names) {
        Set<String> kinds = Set.of();
        try {
            kinds = kinds(Class.forName(names[0], false, Clients.class.getClassLoader()));
        } catch (ClassNotFoundException | NoClassDefFoundError e) {
            // no kinds: it cannot be loaded
        }
        return "{\"id\":" + quote(names[0]) + ",\"kinds\":" + list(kinds) + "}";
    }

    private static String list(Iterable<String> names) {
        StringBuilder s = new StringBuilder("[");
        for (String n : names) {
            s.append(s.length() > 1 ? "," : "").append(quote(n));
        }
        return s.append("]").toString();
    }

    private static String quote(String text) {
        StringBuilder s = new StringBuilder("\"");
        for (char c : text.toCharArray()) {
            if (c == '"' || c == '\\') {
                s.append('\\').append(c);
            } else if (c < ' ') {
                s.append(String.format("\\u%04x", (int) c));
            } else {
                s.append(c);
            }
        }
        return s.append('"').toString();
    }
}
