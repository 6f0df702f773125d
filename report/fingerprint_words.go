package report

// partWords say of a part what it is called, what its difference means, and
// what to do about it.
type partWords struct{ name, means, do string }

func (p Part) words() partWords {
	for _, all := range []map[Part]partWords{placeParts(), networkParts(), pathParts(), tlsParts()} {
		if w, ok := all[p]; ok {
			return w
		}
	}
	return partWords{name: string(p)}
}

func placeParts() map[Part]partWords {
	return map[Part]partWords{
		PartZone: {
			"zone", "They are in two zones: each has gateways, NATs and load balancers of its own.",
			"Give perch the application's nodeSelector and affinity (perch manifest --like does), or run one perch a zone.",
		},
		PartNamespace: {
			"namespace", "They are in two namespaces: network policies, egress gateways and search domains go by it.",
			"Deploy perch into the application's namespace.",
		},
		PartNode:  {name: "node"},
		PartPlace: {name: "host"},
		PartAge:   {name: "time"},
	}
}

func networkParts() map[Part]partWords {
	const dns = "Give perch the application's dnsPolicy and dnsConfig (perch manifest --like does), and its hostNetwork."
	return map[Part]partWords{
		PartServers: {"resolver", "They ask other name servers, which may answer with other addresses.", dns},
		PartSearch:  {"search domains", "A short name may lead elsewhere, and is asked for in another order.", dns},
		PartDots:    {"ndots", "Names are tried with the search domains at another number of dots: other look-ups, and perhaps another host.", dns},
		PartOptions: {name: "resolver options"},
		PartSidecar: {
			"mesh sidecar", "One has a mesh's sidecar beside it and the other has none: TCP, and what keeps connections alive, end at the sidecar.",
			"Give perch the mesh's injection label and annotations of the application's pod (perch manifest --like copies them).",
		},
		PartProxy: {
			"proxy", "The environments name different proxies for this target: clients that follow them take different ways.",
			"Give perch the application's HTTPS_PROXY, HTTP_PROXY and NO_PROXY, or name it as the target's `proxy`.",
		},
	}
}

func pathParts() map[Part]partWords {
	const network = "Compare hostNetwork, the annotations that choose a network or a security group, the runtime class and the node pool."
	return map[Part]partWords{
		PartReached: {
			"reached", "A connection stands from one place and not from the other: a network policy, a firewall or a name lets one alone through.",
			"Compare the NetworkPolicies and security groups that select the two pods.",
		},
		PartAddresses: {
			"addresses", "The name leads to other networks: a split horizon, another resolver, or a name server that answers by where it is asked from.",
			"Compare the resolvers and hostAliases of both. If they are the same, take both again, close together.",
		},
		PartFamilies:  {"address families", "One connects by IPv6 and the other does not: clients that prefer it take another way.", network},
		PartSource:    {"source", "They leave with addresses of two kinds of network: other routes, NATs and firewall rules apply to each.", network},
		PartInterface: {"interface", "They leave through other kinds of interface: the node's own network, or another one of the pod's.", network},
		PartTCPEnds: {
			"where TCP ends", "From one place TCP ends at the peer, from the other before it: something there answers in the peer's stead, and its idle timeout counts, not the API's.",
			"Look for a mesh, a transparent proxy or a firewall that opens TLS on the one side.",
		},
		PartMSS: {
			"TCP segment size", "Segments to the same address have another size: a tunnel, a VPN or another MTU is on one of the ways.", network,
		},
		PartConnect: {
			"TCP round trip", "One takes more than twice as long, and by more than nodes or zones differ: a detour over another gateway or region, or something near by that answers in the peer's stead.",
			"Trace both (for example with tcptraceroute), and compare egress gateways and zones.",
		},
		PartHello: {
			"TLS round trip", "The TLS peer is heard more than twice as late, and by more than nodes or zones differ: a detour behind whatever ends TCP.",
			"Compare the egress gateways and proxies behind both; take both again if the API was busy.",
		},
	}
}

func tlsParts() map[Part]partWords {
	return map[Part]partWords{
		PartTLS: {
			"TLS", "They agree on another TLS version or protocol: another server answers, or something on the way opens TLS.",
			"Compare the issuers below. If they are the same, take both again: a name's servers may differ.",
		},
		PartIssuer: {
			"certificate issuer", "Another authority signed what each is shown: something on one of the ways opens TLS, or another server answers.",
			"Look at the issuer that is not the API's: a proxy that opens TLS signs with its company's authority. Then the application's connections end there.",
		},
		PartLeaf: {
			"certificate", "The certificates are for different names: another server answers.",
			"Compare the addresses and resolvers of both.",
		},
		PartTrust: {name: "certificate trust"},
	}
}

// unseen is what no fingerprint can show: it is said with each comparison, for
// an agreement proves nothing of it.
func unseen() []string {
	return []string{
		"The outside address behind a NAT or an egress gateway, and which of several gateways is used: ask the API's owner which address they see, or compare the gateways' own logs.",
		"A mesh without sidecars (Istio ambient, Cilium): it shows only where TCP ends before the peer.",
		"Rules that go by the pod's labels or service account, for other ports or at other times, and idle timeouts on the way: those perch measures by holding connections.",
		"The application's own settings: a proxy that its code names, its trust store, its connection pool.",
	}
}
