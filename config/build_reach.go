package config

import (
	"net/netip"
	"net/url"
	"time"

	"perch.example/probes"
)

// reachSettings are reachFields as decoded.
type reachSettings struct {
	Protocol         string          `mapstructure:"protocol"`
	Proxy            string          `mapstructure:"proxy"`
	ProxyCredentials secretSettings  `mapstructure:"proxy_credentials"`
	Addresses        string          `mapstructure:"addresses"`
	IPFamily         string          `mapstructure:"ip_family"`
	SourceAddress    string          `mapstructure:"source_address"`
	UnixSocket       string          `mapstructure:"unix_socket"`
	OAuth2           *oauth2Settings `mapstructure:"oauth2"`
}

// reachProbe are reachProbeFields as decoded.
type reachProbe struct {
	Unused      bool          `mapstructure:"unused"`
	Requests    int           `mapstructure:"requests"`
	Gap         time.Duration `mapstructure:"gap"`
	Over        time.Duration `mapstructure:"over"`
	Connections int           `mapstructure:"connections"`
	Bursts      int           `mapstructure:"bursts"`
	Calls       string        `mapstructure:"calls"`
	ReadOnly    string        `mapstructure:"read_only"`
	Body        string        `mapstructure:"body"`
	GRPC        *grpcSettings `mapstructure:"grpc"`
}

type oauth2Settings struct {
	TokenURL      string         `mapstructure:"token_url"`
	ClientID      string         `mapstructure:"client_id"`
	ClientSecret  secretSettings `mapstructure:"client_secret"`
	Scopes        []string       `mapstructure:"scopes"`
	Audience      string         `mapstructure:"audience"`
	CredentialsIn string         `mapstructure:"credentials_in"`
	DailyLimit    int            `mapstructure:"daily_limit"`
}

type grpcSettings struct {
	Service       string `mapstructure:"service"`
	Method        string `mapstructure:"method"`
	Request       string `mapstructure:"request"`
	DescriptorSet string `mapstructure:"descriptor_set"`
}

// reach takes over which protocol a probe speaks, over which way and as whom.
func (c *checker) reach(out *probes.Spec, p probeSettings) {
	s := p.Shared.Reach
	out.Protocol = probes.Protocol(s.Protocol)
	out.Way = way(s)
	out.OAuth = oauthOf(s.OAuth2)
	out.ReadOnly, out.Unused = p.Reach.ReadOnly, p.Reach.Unused
	out.Requests, out.Gap = p.Reach.Requests, p.Reach.Gap
	if p.Reach.Body != "" {
		out.Body = []byte(p.Reach.Body)
	}
	if g := p.Reach.GRPC; g != nil {
		out.GRPC = &probes.GRPC{Service: g.Service, Method: g.Method, DescriptorSet: g.DescriptorSet}
		if g.Request != "" {
			out.GRPC.Request = []byte(g.Request)
		}
	}
	if out.Kind == probes.KindGRPC && out.GRPC == nil {
		out.GRPC = &probes.GRPC{}
	}
}

func way(s reachSettings) probes.Way {
	out := probes.Way{Addresses: probes.Addresses(s.Addresses), Family: probes.IPChoice(s.IPFamily), Socket: s.UnixSocket}
	out.Source, _ = netip.ParseAddr(s.SourceAddress) // checked where it is written; empty: none
	out.Proxy.Credentials = probes.Source(s.ProxyCredentials.From)
	switch s.Proxy {
	case "", "none":
	case "environment":
		out.Proxy.Environment = true
	default:
		out.Proxy.URL, _ = url.Parse(s.Proxy) // likewise
	}
	return out
}

func oauthOf(s *oauth2Settings) *probes.OAuth {
	if s == nil || s.TokenURL == "" {
		return nil
	}
	u, err := url.Parse(s.TokenURL)
	if err != nil {
		return nil // told where it is written
	}
	return &probes.OAuth{
		TokenURL: u, ClientID: s.ClientID, Secret: probes.Source(s.ClientSecret.From), Scopes: s.Scopes,
		Audience: s.Audience, InBody: s.CredentialsIn == "body", DailyLimit: s.DailyLimit,
	}
}
