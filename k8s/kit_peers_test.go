//go:build peers

package k8s

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"

	"perch.example/internal/cluster"
)

// TestTheKit builds the image once and looks at it, alone and in a cluster.
func TestTheKit(t *testing.T) {
	image := buildImage(t)
	k := newKit(t, image)
	held := k.held(t)
	t.Run("image", image.check)
	for _, s := range shipments(t) {
		t.Run(s.name, func(t *testing.T) { k.try(t, s) })
	}
	t.Run("held", held)
}

// kit is a cluster with Pod Security, a node with the image, and a world.
type kit struct {
	image   *builder
	perch   string // the image's program
	cluster *cluster.Cluster
	node    *cluster.Node
	world   *world
}

func newKit(t *testing.T, image *builder) *kit {
	t.Helper()
	k := &kit{image: image, perch: filepath.Join(image.root, "perch"), cluster: cluster.Start(t), world: newWorld(t)}
	k.cluster.InstallKinds()
	k.node = k.cluster.NewNode(image.podman)
	return k
}

// within is how long controllers, and perch itself, may take on a busy machine.
const within = time.Minute

// part is the kit of a part of the test.
func (k *kit) part(t *testing.T) *kit {
	part := *k
	part.cluster = k.cluster.For(t)
	return &part
}

// namespace makes one, with perch's Secret as docs/deploy.md says.
func (k *kit) namespace(name string) {
	k.cluster.Namespace(name)
	k.cluster.Kubectl("create", "secret", "generic", "perch", "-n", name,
		"--from-literal=slack-webhook-url="+k.world.hook, "--from-literal=stock-token="+stockToken)
}

// try applies a shipment in a namespace of its own, and runs what comes of it.
func (k *kit) try(t *testing.T, s shipment) {
	k = k.part(t)
	k.namespace(s.name)
	yaml := s.objects(k, t, s.name)
	if strings.Contains(yaml, "127.0.0.1:15021") {
		serveSidecar(t)
	}
	k.cluster.Apply(yaml, "-n", s.name, "--server-side")
	if strings.Contains(yaml, "\nkind: Deployment\n") {
		replicas := 1
		if strings.Contains(yaml, "\n  replicas: 2\n") {
			replicas = 2 // the first one that begins leads
		}
		pod := k.pods(t, s.name, "app.kubernetes.io/name=perch", replicas)[0]
		k.mayNothingElse(t, s.name, pod.Spec.ServiceAccountName)
		if !s.idle {
			k.serves(t, pod)
		}
		return
	}
	job := k.scheduled(t, s.name)
	pods := k.pods(t, s.name, "job-name="+job.Name, int(*job.Spec.Parallelism))
	k.mayNothingElse(t, s.name, pods[0].Spec.ServiceAccountName)
	if s.idle {
		return
	}
	k.runs(t, job, pods)
	if s.name == "base" {
		k.appliedAgain(t, s.name, yaml)
		k.overlap(t, s.name)
		k.otherCommands(t, s.name)
		k.outOfMemory(t, s.name)
		k.underPolicy(t, s.name)
	}
}

// scheduled waits until the controller has made a Job of the namespace's
// CronJob, and suspends it. A minute is not waited for: the CronJob is due each
// minute, and is told that it ran last two minutes ago, in this order. The
// controller waits for the next time of a schedule that has changed.
func (k *kit) scheduled(t *testing.T, namespace string) batchv1.Job {
	t.Helper()
	cron := cronJobs(namespace) + "/" + k.cronJob(t, namespace).Name
	k.cluster.Do("PATCH", cron, `{"spec": {"schedule": "* * * * *"}}`, nil)
	last := time.Now().Add(-2 * time.Minute).UTC().Format(time.RFC3339)
	k.cluster.Do("PATCH", cron+"/status", fmt.Sprintf(`{"status": {"lastScheduleTime": %q}}`, last), nil)
	var jobs batchv1.JobList
	cluster.Await(t, 2*within, "a Job of the schedule", func() error {
		if err := k.cluster.Ask("GET", "/apis/batch/v1/namespaces/"+namespace+"/jobs", "", &jobs); err != nil {
			return err
		}
		if len(jobs.Items) == 0 {
			return errors.New("no Job")
		}
		return nil
	})
	k.cluster.Do("PATCH", cron, `{"spec": {"suspend": true}}`, nil)
	return jobs.Items[0]
}

func cronJobs(namespace string) string { return "/apis/batch/v1/namespaces/" + namespace + "/cronjobs" }

// cronJob is the namespace's only one.
func (k *kit) cronJob(t *testing.T, namespace string) batchv1.CronJob {
	t.Helper()
	var all batchv1.CronJobList
	k.cluster.Do("GET", cronJobs(namespace), "", &all)
	if len(all.Items) != 1 {
		t.Fatalf("%d CronJobs, want one", len(all.Items))
	}
	return all.Items[0]
}

// pods waits until controllers have made that many Pods: they were admitted.
func (k *kit) pods(t *testing.T, namespace, selector string, want int) []corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	cluster.Await(t, within, "Pods of "+selector, func() error {
		if err := k.cluster.Ask("GET", "/api/v1/namespaces/"+namespace+"/pods?labelSelector="+url.QueryEscape(selector), "", &pods); err != nil {
			return err
		}
		if len(pods.Items) != want {
			return fmt.Errorf("%d Pods, want %d; events:\n%s", len(pods.Items), want, k.events(namespace))
		}
		return nil
	})
	return pods.Items
}

// events say why there is no Pod.
func (k *kit) events(namespace string) string {
	var all corev1.EventList
	k.cluster.Do("GET", "/api/v1/namespaces/"+namespace+"/events", "", &all)
	var said strings.Builder
	for _, e := range all.Items {
		fmt.Fprintf(&said, "%s %s: %s\n", e.InvolvedObject.Kind, e.InvolvedObject.Name, e.Message)
	}
	return said.String()
}

// serves runs the Pod of a Deployment until it is ready, and stops it.
func (k *kit) serves(t *testing.T, pod corev1.Pod) {
	at := fmt.Sprintf("http://127.0.0.1:%d", pod.Spec.Containers[0].Ports[0].ContainerPort)
	running := k.node.Start(t, pod)
	cluster.Await(t, within, "the Pod to be ready", func() error {
		if _, err := fetch(at + pod.Spec.Containers[0].ReadinessProbe.HTTPGet.Path); err != nil {
			return fmt.Errorf("%w; it said\n%s", err, running.Stderr())
		}
		return nil
	})
	for _, path := range []string{pod.Spec.Containers[0].LivenessProbe.HTTPGet.Path, "/metrics"} {
		if body, err := fetch(at + path); err != nil {
			t.Error(err)
		} else if path == "/metrics" && !strings.Contains(body, `perch_build_info{`) {
			t.Errorf("/metrics holds no perch_build_info:\n%s", body)
		}
	}
	if code := running.Stop(t); code != 0 {
		t.Errorf("stopped, it ended with status %d:\n%s", code, running.Stderr())
	}
}

// fetch returns the body of an answer 200.
func fetch(url string) (string, error) {
	resp, err := http.Get(url)
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: status %d, want 200: %s", url, resp.StatusCode, body)
	}
	return string(body), err
}
