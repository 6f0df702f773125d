package probes

import (
	"reflect"
	"testing"
	"time"
)

func TestClientSettings(t *testing.T) {
	tests := []struct {
		name   string
		client Client
		want   []Setting
	}{
		{"all at the defaults", Client{Kind: "okhttp-4"}, nil},
		{"everything", Client{
			Kind: "apache-httpclient-4.5", WrappedBy: "spring-resttemplate",
			MaxIdle: Limit{Mode: LimitAfter, After: 2 * time.Minute}, ValidateAfter: Limit{Mode: LimitAlways},
			TCPKeepAlive: 90 * time.Second, AutomaticRetries: SwitchNone,
			Retry: &RetryPolicy{Layer: LayerInside, Attempts: 3, Methods: []string{"GET", "HEAD"}, Errors: []string{"a.B", "5xx"}},
		}, []Setting{
			{"wrapped_by", "spring-resttemplate"}, {"max_idle", "2m"}, {"validate_after", "always"}, {"tcp_keep_alive", "1m30s"},
			{"automatic_retries", "none"}, {"retry.layer", "inside"}, {"retry.attempts", "3"}, {"retry.methods", "GET, HEAD"}, {"retry.errors", "a.B, 5xx"},
		}},
		{"an empty list", Client{MaxIdle: Limit{Mode: LimitNone}, Retry: &RetryPolicy{Attempts: 1}}, []Setting{{"max_idle", "none"}, {"retry.attempts", "1"}}},
		{"whole hours and less than a second", Client{
			MaxIdle: Limit{Mode: LimitAfter, After: time.Hour}, ValidateAfter: Limit{Mode: LimitAfter, After: 750 * time.Millisecond},
		}, []Setting{{"max_idle", "1h"}, {"validate_after", "750ms"}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.client.Settings(); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("settings %v, want %v", got, tt.want)
			}
		})
	}
}
