//go:build peers

package peers

import (
	"fmt"
	"net"
	"net/http"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"
	"time"
)

// Every configuration sets the idle timeout of a connection that has carried a
// request, turns off the limit on requests a connection, and leaves the rest
// as it is: perch has to get along with it.

func nginx(t *testing.T, p place) *exec.Cmd {
	t.Helper()
	listen := fmt.Sprintf("listen %s:%d", p.host, p.port)
	secure := ""
	if p.cert.file != "" {
		listen += " ssl"
		secure = fmt.Sprintf("ssl_certificate %s; ssl_certificate_key %s;", p.cert.file, p.cert.keyFile)
	}
	if p.http2 {
		listen += " http2"
	}
	path := nginxConfig(t, p.dir, p.idle, fmt.Sprintf(`%s;
    %s
    root %s/www;
    location / { default_type application/json; }`, listen, secure, p.dir))
	return exec.Command("nginx", "-p", p.dir, "-c", path)
}

// nginxConfig writes a configuration with one server, which ends what was idle so long.
func nginxConfig(t *testing.T, dir string, idle time.Duration, server string) string {
	t.Helper()
	return write(t, filepath.Join(dir, "nginx.conf"), fmt.Sprintf(`
daemon off;
user root;
worker_processes 1;
pid %[1]s/nginx.pid;
error_log stderr;
events { worker_connections 4096; }
http {
  access_log off;
  client_body_temp_path %[1]s/body;
  proxy_temp_path %[1]s/proxy;
  fastcgi_temp_path %[1]s/fastcgi;
  uwsgi_temp_path %[1]s/uwsgi;
  scgi_temp_path %[1]s/scgi;
  keepalive_timeout %[2]dms;
  keepalive_requests 1000000;
  server {
    %[3]s
  }
}
`, dir, idle.Milliseconds(), server))
}

func haproxy(t *testing.T, p place) *exec.Cmd {
	t.Helper()
	secure, spoken := "", "http/1.1"
	if p.http2 {
		spoken = "h2"
	}
	if p.cert.file != "" {
		secure = " ssl crt " + p.cert.bothFile + " alpn " + spoken
	} else if p.http2 {
		secure = " proto h2"
	}
	path := write(t, filepath.Join(p.dir, "haproxy.cfg"), fmt.Sprintf(`
global
  maxconn 4000
  nbthread 2
defaults
  mode http
  timeout connect 5s
  timeout client 30s
  timeout server 30s
  timeout http-request 10s
  timeout http-keep-alive %dms
frontend calendar
  bind %s:%d%s
  http-request return status 200 content-type application/json file %s/www/calendar
`, p.millis(), p.host, p.port, secure, p.dir))
	return exec.Command("haproxy", "-db", "-f", path)
}

func apache(t *testing.T, p place) *exec.Cmd {
	t.Helper()
	modules, secure := "", ""
	if p.http2 {
		modules, secure = "LoadModule http2_module /usr/lib/apache2/modules/mod_http2.so\n", "Protocols h2c\n"
		// Short of threads it ends idle connections at once.
		modules += "ThreadLimit 200\nThreadsPerChild 200\nMaxRequestWorkers 1600\nServerLimit 8\nStartServers 4\nMinSpareThreads 800\n"
	}
	if p.cert.file != "" {
		modules += "LoadModule ssl_module /usr/lib/apache2/modules/mod_ssl.so\n"
		secure = fmt.Sprintf("Protocols h2\nSSLEngine on\nSSLCertificateFile %s\nSSLCertificateKeyFile %s\n", p.cert.file, p.cert.keyFile)
	}
	path := write(t, filepath.Join(p.dir, "apache2.conf"), fmt.Sprintf(`
ServerRoot %[1]s
ServerName localhost
DefaultRuntimeDir %[1]s
PidFile %[1]s/apache2.pid
Listen %[2]s:%[3]d
User www-data
Group www-data
ErrorLog /dev/stderr
LoadModule mpm_event_module /usr/lib/apache2/modules/mod_mpm_event.so
LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so
%[5]s%[6]sKeepAlive On
KeepAliveTimeout %[4]dms
MaxKeepAliveRequests 0
DocumentRoot %[1]s/www
<Directory %[1]s/www>
  Require all granted
  ForceType application/json
</Directory>
`, p.dir, p.host, p.port, p.millis(), modules, secure))
	return exec.Command("apache2", "-D", "FOREGROUND", "-f", path)
}

func caddy(t *testing.T, p place) *exec.Cmd {
	t.Helper()
	scheme, secure, protocols := "http", "", "h1"
	if p.http2 {
		protocols = "h1 h2 h2c"
	}
	if p.cert.file != "" {
		scheme, secure = "https", fmt.Sprintf("tls %s %s", p.cert.file, p.cert.keyFile)
	}
	path := write(t, filepath.Join(p.dir, "Caddyfile"), fmt.Sprintf(`
{
  admin off
  auto_https off
  servers {
    protocols %[7]s
    timeouts {
      idle %[4]dms
    }
  }
}
%[5]s://:%[3]d {
  bind %[2]s
  %[6]s
  header Content-Type application/json
  root * %[1]s/www
  file_server
}
`, p.dir, p.host, p.port, p.millis(), scheme, secure, protocols))
	cmd := exec.Command("caddy", "run", "--adapter", "caddyfile", "--config", path)
	cmd.Env = append(cmd.Environ(), "HOME="+p.dir, "XDG_CONFIG_HOME="+p.dir, "XDG_DATA_HOME="+p.dir)
	return cmd
}

func tomcat(t *testing.T, p place) *exec.Cmd {
	t.Helper()
	write(t, filepath.Join(p.dir, "webapps", "ROOT", "calendar"), twoDays)
	write(t, filepath.Join(p.dir, "temp", "empty"), "")
	write(t, filepath.Join(p.dir, "conf", "web.xml"), `<?xml version="1.0" encoding="UTF-8"?>
<web-app xmlns="https://jakarta.ee/xml/ns/jakartaee" version="5.0">
  <servlet>
    <servlet-name>default</servlet-name>
    <servlet-class>org.apache.catalina.servlets.DefaultServlet</servlet-class>
  </servlet>
  <servlet-mapping><servlet-name>default</servlet-name><url-pattern>/</url-pattern></servlet-mapping>
</web-app>
`)
	secure, inside := "", ""
	if p.http2 {
		inside = fmt.Sprintf(`<UpgradeProtocol className="org.apache.coyote.http2.Http2Protocol" keepAliveTimeout="%d" />`, p.millis())
	}
	if p.cert.file != "" {
		secure = `SSLEnabled="true"`
		inside += fmt.Sprintf(`<SSLHostConfig><Certificate certificateFile="%s" certificateKeyFile="%s" type="EC" /></SSLHostConfig>`,
			p.cert.file, p.cert.keyFile)
	}
	write(t, filepath.Join(p.dir, "conf", "server.xml"), fmt.Sprintf(`<?xml version="1.0" encoding="UTF-8"?>
<Server port="-1">
  <Service name="Catalina">
    <Connector address="%s" port="%d" protocol="HTTP/1.1" keepAliveTimeout="%d" maxKeepAliveRequests="-1" %s>%s</Connector>
    <Engine name="Catalina" defaultHost="localhost">
      <Host name="localhost" appBase="webapps" unpackWARs="false" autoDeploy="false" />
    </Engine>
  </Service>
</Server>
`, p.host, p.port, p.millis(), secure, inside))
	const home = "/usr/share/tomcat10"
	return exec.Command("java", "-Xmx128m", "-XX:TieredStopAtLevel=1", "-Djava.security.egd=file:/dev/urandom",
		"-cp", home+"/bin/bootstrap.jar:"+home+"/bin/tomcat-juli.jar",
		"-Dcatalina.home="+home, "-Dcatalina.base="+p.dir, "-Djava.io.tmpdir="+filepath.Join(p.dir, "temp"),
		"org.apache.catalina.startup.Bootstrap", "start")
}

func node(t *testing.T, p place) *exec.Cmd {
	t.Helper()
	module, create, options := "http", "createServer", ""
	idle := fmt.Sprintf("server.keepAliveTimeout = %d;", p.millis())
	if p.cert.file != "" {
		module, options = "https", fmt.Sprintf("{cert: fs.readFileSync(%q), key: fs.readFileSync(%q)}, ", p.cert.file, p.cert.keyFile)
	}
	if p.http2 {
		module, idle = "http2", fmt.Sprintf("server.setTimeout(%d);", p.millis())
	}
	if p.http2 && p.cert.file != "" {
		create = "createSecureServer"
	}
	path := write(t, filepath.Join(p.dir, "server.js"), fmt.Sprintf(`
const fs = require('fs');
const body = fs.readFileSync(%q);
const server = require('%s').%s(%s(request, response) => {
  response.setHeader('Content-Type', 'application/json');
  response.setHeader('Content-Length', body.length);
  response.end(body);
});
%s
server.listen(%d, %q);
`, filepath.Join(p.dir, "www", "calendar"), module, create, options, idle, p.port, p.host))
	return exec.Command("node", path)
}

func gunicorn(t *testing.T, p place) *exec.Cmd {
	t.Helper()
	write(t, filepath.Join(p.dir, "calendar_api.py"), fmt.Sprintf(`
BODY = %q.encode()

def app(environ, start_response):
    start_response("200 OK", [("Content-Type", "application/json"), ("Content-Length", str(len(BODY)))])
    return [BODY]
`, twoDays))
	cmd := exec.Command("gunicorn", "--worker-class", "gthread", "--workers", "1", "--threads", "4",
		"--keep-alive", strconv.Itoa(p.seconds()), "--bind", net.JoinHostPort(p.host, strconv.Itoa(p.port)),
		"--chdir", p.dir, "--worker-tmp-dir", p.dir, "calendar_api:app")
	cmd.Env = append(cmd.Environ(), "PYTHONDONTWRITEBYTECODE=1")
	return cmd
}

// serveGo runs net/http's server in this process.
func serveGo(t *testing.T, link *Link, p place) {
	t.Helper()
	listen := net.Listen
	if link != nil {
		listen = link.Listen
	}
	ln, err := listen("tcp", net.JoinHostPort(p.host, strconv.Itoa(p.port)))
	if err != nil {
		t.Fatal(err)
	}
	spoken := new(http.Protocols)
	spoken.SetHTTP1(true)
	spoken.SetHTTP2(p.http2)
	spoken.SetUnencryptedHTTP2(p.http2)
	server := &http.Server{
		IdleTimeout: p.idle, Protocols: spoken,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = w.Write([]byte(twoDays))
		}),
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if p.cert.file != "" {
			_ = server.ServeTLS(ln, p.cert.file, p.cert.keyFile)
			return
		}
		_ = server.Serve(ln)
	}()
	t.Cleanup(func() {
		_ = server.Close()
		<-done
	})
}
