package clients

import "slices"

// wrapper is a layer between the client and the application that turns the
// client's errors into its own.
type wrapper struct {
	kind    string // the key in a config: client.wrapped_by
	name    string // as people call it
	network string // what every I/O error becomes
	clients []string
	status  func(int) string // what it throws for an answer; empty: it hands the answer over
	errors  func() map[string][]string
}

// wrappers is the list of them. Source: their documentation and code.
func wrappers() []wrapper {
	java := []string{"apache-httpclient-4.5", "apache-httpclient-5.2", "okhttp", "jdk-httpclient", "httpurlconnection"}
	return []wrapper{
		{
			kind: "spring-resttemplate", name: "RestTemplate",
			network: "org.springframework.web.client.ResourceAccessException",
			clients: java, status: springStatus, errors: springErrors,
		},
		{
			kind: "spring-restclient", name: "RestClient",
			network: "org.springframework.web.client.ResourceAccessException",
			clients: java, status: springStatus, errors: springErrors,
		},
		{
			kind: "feign", name: "Feign", network: "feign.RetryableException",
			clients: java, status: feignStatus, errors: feignErrors,
		},
	}
}

// Wrappers returns the keys of the layers that are known to wrap errors.
func Wrappers() []string {
	var kinds []string
	for _, w := range wrappers() {
		kinds = append(kinds, w.kind)
	}
	return kinds
}

// Wraps reports whether the layer can stand around a client of that kind.
func Wraps(wrapperKind, clientKind string) bool {
	w := lookupWrapper(wrapperKind)
	return w != nil && slices.Contains(w.clients, clientKind)
}

func lookupWrapper(kind string) *wrapper {
	for _, w := range wrappers() {
		if w.kind == kind {
			return &w
		}
	}
	return nil
}

// springStatus is what Spring's default error handler throws for an answer.
func springStatus(status int) string {
	const pkg = "org.springframework.web.client."
	switch {
	case status == 429:
		return pkg + "HttpClientErrorException$TooManyRequests"
	case status == 503:
		return pkg + "HttpServerErrorException$ServiceUnavailable"
	case status >= 400 && status < 500:
		return pkg + "HttpClientErrorException"
	case status >= 500:
		return pkg + "HttpServerErrorException"
	}
	return ""
}

func springErrors() map[string][]string {
	const pkg = "org.springframework.web.client."
	return map[string][]string{
		pkg + "HttpClientErrorException$TooManyRequests":    {pkg + "HttpClientErrorException"},
		pkg + "HttpServerErrorException$ServiceUnavailable": {pkg + "HttpServerErrorException"},
		pkg + "HttpClientErrorException":                    {pkg + "HttpStatusCodeException"},
		pkg + "HttpServerErrorException":                    {pkg + "HttpStatusCodeException"},
		pkg + "HttpStatusCodeException":                     {pkg + "RestClientResponseException"},
		pkg + "RestClientResponseException":                 {pkg + "RestClientException"},
		pkg + "ResourceAccessException":                     {pkg + "RestClientException"},
		pkg + "RestClientException":                         {"org.springframework.core.NestedRuntimeException"},
		"org.springframework.core.NestedRuntimeException":   {"java.lang.RuntimeException"},
		"java.lang.RuntimeException":                        {"java.lang.Exception"},
		"java.lang.Exception":                               {"java.lang.Throwable"},
	}
}

// feignStatus is what Feign's default decoder throws for an answer.
func feignStatus(status int) string {
	switch {
	case status == 429:
		return "feign.FeignException$TooManyRequests"
	case status == 503:
		return "feign.FeignException$ServiceUnavailable"
	case status >= 400 && status < 500:
		return "feign.FeignException$FeignClientException"
	case status >= 500:
		return "feign.FeignException$FeignServerException"
	}
	return ""
}

func feignErrors() map[string][]string {
	return map[string][]string{
		"feign.FeignException$TooManyRequests":      {"feign.FeignException$FeignClientException"},
		"feign.FeignException$ServiceUnavailable":   {"feign.FeignException$FeignServerException"},
		"feign.FeignException$FeignClientException": {"feign.FeignException"},
		"feign.FeignException$FeignServerException": {"feign.FeignException"},
		"feign.RetryableException":                  {"feign.FeignException"},
		"feign.FeignException":                      {"java.lang.RuntimeException"},
		"java.lang.RuntimeException":                {"java.lang.Exception"},
		"java.lang.Exception":                       {"java.lang.Throwable"},
	}
}
