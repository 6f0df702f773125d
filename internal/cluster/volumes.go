//go:build peers

package cluster

import (
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"

	corev1 "k8s.io/api/core/v1"
)

// volumes fills a folder for each of the Pod's volumes, as the kubelet does, and
// returns where they are.
func (n *Node) volumes(t testing.TB, pod corev1.Pod) map[string]string {
	t.Helper()
	root := filepath.Join(n.dir, "pods", pod.Namespace+"-"+pod.Name)
	at := map[string]string{}
	for _, v := range pod.Spec.Volumes {
		dir := filepath.Join(root, v.Name)
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		at[v.Name] = dir
		switch {
		case v.ConfigMap != nil:
			files := n.configMap(t, pod.Namespace, v.ConfigMap.Name, v.ConfigMap.Optional)
			fill(t, dir, chosen(t, files, v.ConfigMap.Items), *v.ConfigMap.DefaultMode)
		case v.Secret != nil:
			files := n.secret(t, pod.Namespace, v.Secret.SecretName, v.Secret.Optional)
			fill(t, dir, chosen(t, files, v.Secret.Items), *v.Secret.DefaultMode)
		case v.Projected != nil:
			for _, source := range v.Projected.Sources {
				n.project(t, pod, dir, source, *v.Projected.DefaultMode)
			}
		case v.EmptyDir != nil, v.PersistentVolumeClaim != nil:
			n.writable(t, pod, v, at)
		default:
			t.Fatalf("volume %+v is not understood here", v)
		}
	}
	return at
}

// writable is a folder of the Pod's own, or of its claim.
func (n *Node) writable(t testing.TB, pod corev1.Pod, v corev1.Volume, at map[string]string) {
	t.Helper()
	mode := os.FileMode(0o777)
	if claim := v.PersistentVolumeClaim; claim != nil {
		// What provisioners make is root's, and fsGroup gives it to the Pod's group.
		at[v.Name], mode = n.Claim(pod.Namespace, claim.ClaimName), 0o755
	}
	dir := at[v.Name]
	if err := os.MkdirAll(dir, mode); err != nil {
		t.Fatal(err)
	}
	if group := pod.Spec.SecurityContext.FSGroup; group != nil {
		mode |= 0o070 | os.ModeSetgid
		if err := os.Chown(dir, 0, int(*group)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, mode); err != nil {
		t.Fatal(err)
	}
}

// Claim is the folder of a claim, which outlives its Pods.
func (n *Node) Claim(namespace, name string) string {
	return filepath.Join(n.dir, "claims", namespace+"-"+name)
}

// project writes one source of a projected volume.
func (n *Node) project(t testing.TB, pod corev1.Pod, dir string, source corev1.VolumeProjection, mode int32) {
	t.Helper()
	switch {
	case source.ServiceAccountToken != nil:
		// The kubelet's request: bound to the Pod. The file is the Pod's user's alone.
		token := n.cluster.token(pod.Namespace, pod.Spec.ServiceAccountName, fmt.Sprintf(
			`{"expirationSeconds": %d, "boundObjectRef": {"apiVersion": "v1", "kind": "Pod", "name": %q, "uid": %q}}`,
			*source.ServiceAccountToken.ExpirationSeconds, pod.Name, pod.UID))
		file := filepath.Join(dir, source.ServiceAccountToken.Path)
		fill(t, dir, map[string][]byte{source.ServiceAccountToken.Path: []byte(token)}, 0o600)
		if err := os.Chown(file, int(*pod.Spec.SecurityContext.RunAsUser), -1); err != nil {
			t.Fatal(err)
		}
	case source.ConfigMap != nil:
		files := n.configMap(t, pod.Namespace, source.ConfigMap.Name, source.ConfigMap.Optional)
		fill(t, dir, chosen(t, files, source.ConfigMap.Items), mode)
	case source.DownwardAPI != nil:
		files := map[string][]byte{}
		for _, item := range source.DownwardAPI.Items {
			files[item.Path] = []byte(field(t, pod, item.FieldRef.FieldPath))
		}
		fill(t, dir, files, mode)
	default:
		t.Fatalf("the source %+v is not understood here", source)
	}
}

// configMap returns its keys; none where it is not there and need not be.
func (n *Node) configMap(t testing.TB, namespace, name string, optional *bool) map[string][]byte {
	t.Helper()
	var object corev1.ConfigMap
	n.object(t, &object, optional, "/api/v1/namespaces/"+namespace+"/configmaps/"+name)
	files := map[string][]byte{}
	for key, value := range object.Data {
		files[key] = []byte(value)
	}
	for key, value := range object.BinaryData {
		files[key] = value
	}
	return files
}

func (n *Node) secret(t testing.TB, namespace, name string, optional *bool) map[string][]byte {
	t.Helper()
	var object corev1.Secret
	n.object(t, &object, optional, "/api/v1/namespaces/"+namespace+"/secrets/"+name)
	return object.Data
}

// object reads one. Without it the kubelet would not start the Pod, unless it is
// optional.
func (n *Node) object(t testing.TB, into any, optional *bool, path string) {
	t.Helper()
	err := n.cluster.Ask("GET", path, "", into)
	var refused *Refused
	missing := errors.As(err, &refused) && refused.Status == http.StatusNotFound
	if err != nil && (!missing || optional == nil || !*optional) {
		t.Fatalf("the Pod does not start: %v", err)
	}
}

// chosen are the items of a volume; all keys where it lists none.
func chosen(t testing.TB, all map[string][]byte, items []corev1.KeyToPath) map[string][]byte {
	t.Helper()
	if len(items) == 0 {
		return all
	}
	files := map[string][]byte{}
	for _, item := range items {
		content, is := all[item.Key]
		if !is {
			if len(all) == 0 {
				continue
			}
			t.Fatalf("the Pod does not start: no key %s", item.Key)
		}
		files[item.Path] = content
	}
	return files
}

func fill(t testing.TB, dir string, files map[string][]byte, mode int32) {
	t.Helper()
	for name, content := range files {
		file := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, content, os.FileMode(mode)); err != nil {
			t.Fatal(err)
		}
	}
}
