// Package cluster runs a Kubernetes control plane for tests: etcd,
// kube-apiserver and kube-controller-manager, real ones, on loopback, without
// nodes. Objects are admitted, defaulted and refused as in any cluster, and
// controllers make Jobs and Pods of them; nothing schedules a Pod or runs it.
//
// All of it is behind the build tag peers. The programs are looked for in
// ${XDG_CACHE_HOME:-$HOME/.cache}/perch/bin, where .ci/control-plane puts them, and
// then in PATH; one that is missing fails the test.
package cluster
