package k8s

import (
	"reflect"
	"slices"
	"strings"
	"testing"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbac "k8s.io/api/rbac/v1"
)

// shared is what a workload may have that decides its path.
func shared() *Path {
	return &Path{
		Workload: "Deployment shop/checkout", Namespace: "shop",
		Labels:      map[string]string{"egress": "partner", "app.kubernetes.io/name": "checkout"},
		Annotations: map[string]string{"proxy.istio.io/config": "x", "perch.example/config-hash": "theirs"},
		Pod: corev1.PodSpec{
			NodeSelector:       map[string]string{"pool": "egress"},
			Tolerations:        []corev1.Toleration{{Key: "egress", Operator: corev1.TolerationOpExists}},
			ServiceAccountName: "checkout",
			DNSPolicy:          corev1.DNSClusterFirst,
			DNSConfig:          &corev1.PodDNSConfig{Nameservers: []string{"192.0.2.53"}},
			HostAliases:        []corev1.HostAlias{{IP: "192.0.2.1", Hostnames: []string{"api.example"}}},
			RuntimeClassName:   new("gvisor"),
			ImagePullSecrets:   []corev1.LocalObjectReference{{Name: "pull"}},
			SecurityContext:    &corev1.PodSecurityContext{RunAsUser: new(int64(0)), Sysctls: []corev1.Sysctl{{Name: "net.ipv4.tcp_keepalive_time", Value: "60"}}},
			Volumes: []corev1.Volume{
				{Name: "ca", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "ca"}}}},
				{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "app"}}}},
				{Name: "path-config", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}},
			},
			InitContainers: []corev1.Container{{
				Name: "proxy", Image: "proxy", RestartPolicy: new(corev1.ContainerRestartPolicyAlways),
				VolumeMounts: []corev1.VolumeMount{{Name: "config", MountPath: "/proxy"}},
				SecurityContext: &corev1.SecurityContext{
					AllowPrivilegeEscalation: new(false), Capabilities: &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
				},
			}},
			Containers: []corev1.Container{{
				Env: []corev1.EnvVar{{Name: "HTTPS_PROXY", Value: "http://proxy:3128"}, {Name: "GOMEMLIMIT", Value: "1GiB"}},
				VolumeMounts: []corev1.VolumeMount{
					{Name: "ca", MountPath: "/etc/ca"}, {Name: "config", MountPath: "/etc/perch/config/x"}, {Name: "path-config", MountPath: "/etc"},
				},
			}},
		},
		Sidecar: &Sidecar{Mesh: "Istio", Ready: "http://127.0.0.1:15021/healthz/ready", Quit: "http://127.0.0.1:15020/quitquitquit"},
		Copied:  []Reason{{"hostAliases", "they name addresses"}},
		Left:    []Reason{{"hostPort", "no use"}},
	}
}

func TestOnTheApplicationsPath(t *testing.T) {
	m := made(t, strings.Replace(small, `"https://a.example"`, `"https://a.example", tls: {ca_file: /etc/ca/ca.pem}`, 1), Options{Path: shared()})
	checked(t, written(t, m))
	pod := found[*batchv1.CronJob](t, m).Spec.JobTemplate.Spec.Template
	if want := map[string]string{
		"app.kubernetes.io/name": "perch", "app.kubernetes.io/instance": "perch", "perch.example/path": "perch", "egress": "partner",
	}; !reflect.DeepEqual(pod.Labels, want) {
		t.Errorf("labels %v, want %v", pod.Labels, want)
	}
	if pod.Annotations["proxy.istio.io/config"] != "x" || pod.Annotations["perch.example/config-hash"] == "theirs" {
		t.Errorf("annotations %v", pod.Annotations)
	}
	theirs, spec := shared().Pod, pod.Spec
	for what, same := range map[string]bool{
		"nodeSelector": reflect.DeepEqual(spec.NodeSelector, theirs.NodeSelector), "tolerations": reflect.DeepEqual(spec.Tolerations, theirs.Tolerations),
		"dnsPolicy": spec.DNSPolicy == theirs.DNSPolicy, "dnsConfig": reflect.DeepEqual(spec.DNSConfig, theirs.DNSConfig),
		"hostAliases": reflect.DeepEqual(spec.HostAliases, theirs.HostAliases), "runtimeClassName": *spec.RuntimeClassName == "gvisor",
		"imagePullSecrets": reflect.DeepEqual(spec.ImagePullSecrets, theirs.ImagePullSecrets), "serviceAccountName": spec.ServiceAccountName == "checkout",
		"sysctls": reflect.DeepEqual(spec.SecurityContext.Sysctls, theirs.SecurityContext.Sysctls), "perch's user": *spec.SecurityContext.RunAsUser == 65532,
	} {
		if !same {
			t.Errorf("%s is not as it should be", what)
		}
	}
	var volumes, mounts, env []string
	for _, v := range spec.Volumes {
		volumes = append(volumes, v.Name)
	}
	for _, v := range spec.Containers[0].VolumeMounts {
		mounts = append(mounts, v.Name+" "+v.MountPath)
	}
	for _, v := range spec.Containers[0].Env {
		env = append(env, v.Name+"="+v.Value)
	}
	if want := []string{"config", "secrets", "policy", "ca", "path-2-config", "path-config"}; !slices.Equal(volumes, want) {
		t.Errorf("volumes %v, want %v", volumes, want)
	}
	if want := []string{"config /etc/perch/config", "secrets /etc/perch/secrets", "policy /etc/perch/policy", "ca /etc/ca"}; !slices.Equal(mounts, want) {
		t.Errorf("mounts %v, want %v", mounts, want)
	}
	if !slices.Contains(env, "HTTPS_PROXY=http://proxy:3128") || !slices.Contains(env, "GOMEMLIMIT=56MiB") || slices.Contains(env, "GOMEMLIMIT=1GiB") {
		t.Errorf("environment %v", env)
	}
	if init := spec.InitContainers; len(init) != 1 || init[0].VolumeMounts[0].Name != "path-2-config" {
		t.Errorf("init containers %+v", init)
	}
	if args := spec.Containers[0].Args; !slices.Equal(args[len(args)-2:], []string{"--wait-for=http://127.0.0.1:15021/healthz/ready", "--quit=http://127.0.0.1:15020/quitquitquit"}) {
		t.Errorf("arguments %v", args)
	}
	for _, o := range m.Objects {
		if o.GetNamespace() != "shop" {
			t.Errorf("%s %s is in %q", o.GetObjectKind().GroupVersionKind().Kind, o.GetName(), o.GetNamespace())
		}
		if o.GetObjectKind().GroupVersionKind().Kind == "ServiceAccount" {
			t.Error("an account of perch's own beside the application's")
		}
	}
	if who := found[*rbac.RoleBinding](t, m).Subjects[0]; who.Name != "checkout" || who.Namespace != "shop" {
		t.Errorf("the rights are %+v's", who)
	}
	notes := strings.Join(m.Notes, "\n")
	for _, want := range []string{
		"not copied: the label app.kubernetes.io/name, which", "not copied: the annotation perch.example/config-hash, which",
		"not copied: the variable GOMEMLIMIT, which", "not copied: the mount at /etc/perch/config/x, where", "not copied: the mount at /etc, where",
		"copied from Deployment shop/checkout: hostAliases: they name addresses", "left of Deployment shop/checkout: hostPort: no use",
	} {
		if !strings.Contains(notes, want) {
			t.Errorf("the notes lack %q:\n%s", want, notes)
		}
	}
	if strings.Contains(notes, "/etc/ca/ca.pem") {
		t.Errorf("a file on a mount that is copied is said to be missing:\n%s", notes)
	}
}

// TestANativeSidecarIsNotToldToQuit, but waited for.
func TestANativeSidecarIsNotToldToQuit(t *testing.T) {
	path := shared()
	path.Sidecar.Quit = ""
	args := found[*batchv1.CronJob](t, made(t, small, Options{Path: path})).Spec.JobTemplate.Spec.Template.Spec.Containers[0].Args
	if !slices.Contains(args, "--wait-for="+path.Sidecar.Ready) || strings.Contains(strings.Join(args, " "), "--quit") {
		t.Errorf("arguments %v", args)
	}
}

// TestThePathIsNotChanged: it may be used for more than one manifest.
func TestThePathIsNotChanged(t *testing.T) {
	path := shared()
	for _, kind := range []Kind{KindCronJob, KindDeployment} {
		made(t, small, Options{Path: path, Kind: kind})
	}
	if want := shared(); !reflect.DeepEqual(path, want) {
		t.Errorf("it is\n%+v\nwas\n%+v", path, want)
	}
}

// TestNoFieldOfThePodIsForgotten: each is copied, or joined, or perch's own.
func TestNoFieldOfThePodIsForgotten(t *testing.T) {
	own := map[string]bool{
		"Containers": true, "InitContainers": true, "EphemeralContainers": true, "Volumes": true, "RestartPolicy": true, "SecurityContext": true,
		"TerminationGracePeriodSeconds": true, "ActiveDeadlineSeconds": true, "EnableServiceLinks": true, "AutomountServiceAccountToken": true,
	}
	of := reflect.TypeFor[corev1.PodSpec]()
	for i := range of.NumField() {
		name := of.Field(i).Name
		from, to := &corev1.PodSpec{}, &corev1.PodSpec{SecurityContext: &corev1.PodSecurityContext{RunAsUser: new(int64(user))}}
		field := reflect.ValueOf(from).Elem().Field(i)
		switch field.Kind() {
		case reflect.Pointer:
			field.Set(reflect.New(field.Type().Elem()))
		case reflect.Slice:
			field.Set(reflect.MakeSlice(field.Type(), 1, 1))
		case reflect.Map:
			field.Set(reflect.MakeMap(field.Type()))
		case reflect.String:
			field.SetString("x")
		case reflect.Bool:
			field.SetBool(true)
		default:
			t.Fatalf("%s is a %s", name, field.Kind())
		}
		takeFields(to, from)
		if copied := reflect.DeepEqual(reflect.ValueOf(to).Elem().Field(i).Interface(), field.Interface()); copied == own[name] {
			t.Errorf("%s: copied %t, want %t", name, copied, !own[name])
		}
	}
}
