package runner

import (
	"strconv"
	"strings"

	"perch.example/probes"
)

// ports counts the TCP sockets of this network namespace (of both families, those
// in TIME_WAIT included) against its range of local ports. It is what can be had
// for two small files. A port may serve connections to several addresses, and
// sockets that were accepted here count as well: with many in use ports need not
// be short, with few they are not.
func (s system) ports() probes.Usage {
	limit := portRange(string(s.read("/proc/sys/net/ipv4/ip_local_port_range")))
	used, ok := tcpSockets(string(s.read("/proc/net/sockstat")))
	if limit == 0 || !ok {
		return probes.Usage{}
	}
	v6, _ := tcpSockets(string(s.read("/proc/net/sockstat6"))) // absent without IPv6
	return probes.Usage{Used: used + v6, Limit: limit}
}

// portRange is how many ports a range as "32768 60999" has; 0: it is none.
func portRange(text string) int {
	f := strings.Fields(text)
	if len(f) != 2 {
		return 0
	}
	low, err1 := strconv.ParseUint(f[0], 10, 16)
	high, err2 := strconv.ParseUint(f[1], 10, 16)
	if err1 != nil || err2 != nil || low == 0 || high < low {
		return 0
	}
	return int(high - low + 1)
}

// tcpSockets reads the line "TCP: inuse 4 orphan 0 tw 5 ..." of a sockstat, or
// "TCP6: inuse 4" of a sockstat6.
func tcpSockets(text string) (n int, ok bool) {
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] != "TCP:" && f[0] != "TCP6:" {
			continue
		}
		for i := 1; i+1 < len(f); i += 2 {
			if f[i] != "inuse" && f[i] != "tw" {
				continue
			}
			v, err := strconv.ParseUint(f[i+1], 10, 31)
			if err != nil {
				return 0, false
			}
			n, ok = n+int(v), true
		}
		return n, ok
	}
	return 0, false
}
