package like

import (
	"cmp"
	"path"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
)

// How programs are told whom to trust. Perch reads the first two, as Go and
// OpenSSL do; the others are put into these.
const (
	certFile = "SSL_CERT_FILE" // in place of the image's
	certDir  = "SSL_CERT_DIR"  // beside a file
	nodeMore = "NODE_EXTRA_CA_CERTS"
)

// bundleVariables name a file with all authorities, for one library each.
func bundleVariables() []string {
	return []string{"REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "GRPC_DEFAULT_SSL_ROOTS_FILE_PATH"}
}

// authorities copies whom the workload trusts: the variables that say so, and
// what is mounted where they point or where programs look by themselves.
func (b *builder) authorities() error {
	v := b.variablesOf(b.main)
	dirs, files := b.mountedByItself()
	if !b.bundle(v) && len(files) > 0 {
		b.trust(certFile, files[0], "what is mounted there: Go reads the first file of its list, and perch's image has that")
	}
	if dir := b.folder(v); dir != "" {
		dirs = append(dirs, dir)
	}
	if file := b.file(v, nodeMore); file != "" {
		dirs = append(dirs, path.Dir(file))
	}
	if len(dirs) > 0 {
		if v.values[certDir] == "" {
			dirs = append(dirs, b.byDefault()...)
		}
		slices.Sort(dirs)
		b.trust(certDir, strings.Join(slices.Compact(dirs), ":"), "what is mounted there")
	}
	b.javaTrust(v)
	return nil
}

// bundle gives perch the file with all authorities that the variables name, the
// first of them, and reports whether one does. Of the others it tells.
func (b *builder) bundle(v variables) bool {
	taken := ""
	for _, name := range append([]string{certFile}, bundleVariables()...) {
		if taken != "" && v.values[name] != "" && v.values[name] == v.values[taken] {
			continue
		}
		if _, has := v.all[name]; taken != "" && has {
			b.left("variable "+name, "perch has one file of authorities, that of %s; where they differ, %s", taken, byHand)
			continue
		}
		if file := b.file(v, name); file != "" {
			b.trust(certFile, file, name)
			taken = name
		}
	}
	if _, has := v.all["AWS_CA_BUNDLE"]; has {
		b.left("variable AWS_CA_BUNDLE", "it holds for the workload's calls of AWS alone; where a target is AWS's, or behind the same proxy, %s", byHand)
	}
	return taken != ""
}

// trust gives perch a variable.
func (b *builder) trust(name, value, from string) {
	c := &b.path.Pod.Containers[0]
	c.Env = append(c.Env, corev1.EnvVar{Name: name, Value: value})
	b.copied("variable "+name, "so that perch trusts whom the workload trusts, by %s", from)
}

// file is where a variable says that authorities are, once perch has a mount of
// it, too; empty: it says nothing, or perch cannot have it.
func (b *builder) file(v variables, name string) string {
	if _, has := v.all[name]; !has {
		return ""
	}
	value, known := v.values[name]
	if !known || !path.IsAbs(value) || strings.Contains(value, "$(") {
		b.left("variable "+name, "its value is no path that the input tells; "+byHand)
		return ""
	}
	value = path.Clean(value)
	if !b.mount(value, true, name) {
		return ""
	}
	return value
}

// folder is what SSL_CERT_DIR says: folders, with colons between them.
func (b *builder) folder(v variables) string {
	value := v.values[certDir]
	var kept []string
	for _, dir := range strings.Split(value, ":") {
		if dir == "" || !path.IsAbs(dir) {
			continue
		}
		if b.mount(path.Clean(dir), false, certDir) {
			kept = append(kept, path.Clean(dir))
		}
	}
	return strings.Join(kept, ":")
}

// mountedByItself copies what is mounted where programs look for authorities
// without being told. It returns the folders that Go does not look into, and the
// files that it looks at only where it finds none before.
func (b *builder) mountedByItself() (dirs, files []string) {
	for _, m := range b.main.VolumeMounts {
		at := path.Clean(m.MountPath)
		isFile := path.Ext(at) != "" || path.Ext(m.SubPath) != ""
		i := slices.IndexFunc(authorityPlaces(), func(place string) bool { return at == place || inside(at, place) })
		if i < 0 || !b.mount(at, isFile, "where it is mounted") {
			continue
		}
		switch {
		case slices.Contains(laterFiles(), at):
			files = append(files, at)
		case slices.Contains(goFolders(), at), isFile && slices.Contains(goFolders(), path.Dir(at)):
		case isFile:
			dirs = append(dirs, path.Dir(at))
		default:
			dirs = append(dirs, at)
		}
	}
	slices.SortFunc(files, func(a, b string) int {
		return cmp.Compare(slices.Index(laterFiles(), a), slices.Index(laterFiles(), b))
	})
	return dirs, files
}

// byDefault are the folders whose place SSL_CERT_DIR takes, and in which perch has
// something.
func (b *builder) byDefault() []string {
	return slices.DeleteFunc(goFolders(), func(folder string) bool {
		return folder != "/etc/ssl/certs" && !slices.ContainsFunc(b.path.Pod.Containers[0].VolumeMounts, func(m corev1.VolumeMount) bool {
			return m.MountPath == folder || inside(m.MountPath, folder)
		})
	})
}

// goFolders are those that Go reads besides a file.
func goFolders() []string { return []string{"/etc/ssl/certs", "/etc/pki/tls/certs"} }

// laterFiles are those that Go looks at where there is no
// /etc/ssl/certs/ca-certificates.crt, which perch's image has, in Go's order.
func laterFiles() []string {
	return []string{
		"/etc/pki/tls/certs/ca-bundle.crt", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/cacert.pem",
		"/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", "/etc/ssl/cert.pem",
	}
}

// authorityPlaces are where distributions keep authorities, and never keys.
func authorityPlaces() []string {
	return []string{
		"/etc/ssl/certs", "/etc/ssl/cert.pem", "/etc/ssl/ca-bundle.pem", "/etc/pki/tls/certs", "/etc/pki/tls/cacert.pem",
		"/etc/pki/ca-trust", "/etc/ca-certificates", "/usr/local/share/ca-certificates", "/usr/share/ca-certificates",
	}
}

// javaTrust says what only Java reads.
func (b *builder) javaTrust(v variables) {
	for _, name := range []string{"JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "JAVA_OPTS"} {
		if strings.Contains(v.values[name], "javax.net.ssl.trustStore") {
			b.left("variable "+name, "it names a trust store of Java's, which perch does not read: export its authorities as PEM, and give them to each target as tls.ca_file")
		}
	}
}

// inside reports whether a path lies below a folder.
func inside(file, folder string) bool {
	return folder == "/" || strings.HasPrefix(file, strings.TrimSuffix(folder, "/")+"/")
}
