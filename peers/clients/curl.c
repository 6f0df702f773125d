// Runs libcurl against servers that misbehave and says what it made of it. Every line of the input is a job, every line of
// the output is JSON.
#include <curl/curl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#define MAX_JOBS 200

struct job {
	char id[64], client[32], variants[64], url[128], method[8];
	long idle, timeout; // ms
};

static long long now(void) {
	struct timeval t;
	gettimeofday(&t, NULL);
	return t.tv_sec * 1000LL + t.tv_usec / 1000;
}

static size_t forget(char *data, size_t size, size_t n, void *unused) {
	(void)data;
	(void)unused;
	return size * n;
}

static CURLcode call(CURL *h, const char *method, const char *base, const char *path) {
	char url[160];
	snprintf(url, sizeof url, "%s%s", base, path);
	curl_easy_setopt(h, CURLOPT_URL, url);
	if (strcmp(method, "POST") == 0)
		curl_easy_setopt(h, CURLOPT_COPYPOSTFIELDS, "{}");
	else
		curl_easy_setopt(h, CURLOPT_HTTPGET, 1L);
	return curl_easy_perform(h);
}

// The names of the codes, as an application writes them.
static const char *name(CURLcode code) {
#define NAME(c) case c: return #c;
	switch (code) {
	NAME(CURLE_UNSUPPORTED_PROTOCOL)
	NAME(CURLE_COULDNT_RESOLVE_HOST)
	NAME(CURLE_COULDNT_CONNECT)
	NAME(CURLE_PARTIAL_FILE)
	NAME(CURLE_OPERATION_TIMEDOUT)
	NAME(CURLE_SSL_CONNECT_ERROR)
	NAME(CURLE_GOT_NOTHING)
	NAME(CURLE_SEND_ERROR)
	NAME(CURLE_RECV_ERROR)
	NAME(CURLE_PEER_FAILED_VERIFICATION)
	NAME(CURLE_HTTP2)
	NAME(CURLE_HTTP2_STREAM)
	default: return "another code";
	}
}

// Warms a connection, leaves it idle, uses it again and prints what came of it.
static void *play(void *argument) {
	struct job *j = argument;
	char text[CURL_ERROR_SIZE] = "";
	long status = 0;
	long long warmed = 0, sent = 0;
	CURL *h = curl_easy_init();
	curl_easy_setopt(h, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h, CURLOPT_WRITEFUNCTION, forget);
	curl_easy_setopt(h, CURLOPT_ERRORBUFFER, text);
	curl_easy_setopt(h, CURLOPT_CONNECTTIMEOUT_MS, j->timeout);
	curl_easy_setopt(h, CURLOPT_TIMEOUT_MS, j->timeout);
	curl_easy_setopt(h, CURLOPT_MAXCONNECTS, 5L); // setting: libcurl max_idle
	if (strstr(j->variants, "h2") != NULL) { // HTTP/2 over TLS is its own choice
		curl_easy_setopt(h, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(h, CURLOPT_SSL_VERIFYHOST, 0L);
	}
	CURLcode code = CURLE_OK;
	if (strstr(j->variants, "cold") == NULL) {
		code = call(h, "GET", j->url, "/warm");
		warmed = now();
	}
	if (code == CURLE_OK) {
		usleep(j->idle * 1000);
		sent = now();
		code = call(h, j->method, j->url, "/again");
		curl_easy_getinfo(h, CURLINFO_RESPONSE_CODE, &status);
	}
	flockfile(stdout);
	printf("{\"id\":\"%s\",\"warmed\":%lld,\"sent\":%lld,\"done\":%lld,\"status\":%ld", j->id, warmed, sent, now(), status);
	if (code != CURLE_OK) // none of libcurl's texts here has a quote or a backslash in it
		printf(",\"error\":{\"names\":[\"%s\"],\"text\":\"%s\"}", name(code), text[0] ? text : curl_easy_strerror(code));
	printf("}\n");
	funlockfile(stdout);
	curl_easy_cleanup(h);
	return NULL;
}

int main(void) {
	static struct job jobs[MAX_JOBS];
	pthread_t threads[MAX_JOBS];
	int n = 0;
	curl_global_init(CURL_GLOBAL_ALL);
	for (struct job *j = jobs; n < MAX_JOBS; j = &jobs[n]) {
		if (scanf("%63s %31s %63s %127s %7s %ld %ld", j->id, j->client, j->variants, j->url, j->method, &j->idle, &j->timeout) != 7)
			break;
		pthread_create(&threads[n++], NULL, play, j);
	}
	for (int i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
