"""Runs Python's HTTP clients against servers that misbehave and says what each made of it.

Every line of the input is a job (see Job) or, with the argument "classes", a class. Every line of the output is JSON.
"""

import asyncio
import builtins
import importlib
import json
import sys
import threading
import time

import aiohttp
import httpx
import requests
from requests.adapters import HTTPAdapter
from urllib3 import PoolManager, Retry, Timeout

BODY = b"{}"


class Job:
    def __init__(self, line):
        self.id, self.client, variants, self.url, self.method, idle, timeout = line.rstrip("\n").split("\t")
        self.variants = variants.split(",")
        self.idle, self.timeout = int(idle) / 1000, int(timeout) / 1000


def body(method):
    return BODY if method == "POST" else None


def with_requests(job):
    session = requests.Session()
    session.verify = "trusting" not in job.variants
    session.max_redirects = 0  # setting: requests retry

    def call(method, url):
        return session.request(method, url, data=body(method), timeout=job.timeout).status_code

    return call


def with_urllib3(job):
    pool = PoolManager()  # setting: urllib3 retry
    if "retries_off" in job.variants:
        pool = PoolManager(retries=False)
    timeout = Timeout(connect=job.timeout, read=job.timeout)

    def call(method, url):
        return pool.request(method, url, body=body(method), timeout=timeout).status

    return call


def with_httpx(job):
    client = httpx.Client()  # setting: httpx max_idle, retry
    if "h2" in job.variants:
        client = httpx.Client(http2=True, verify=False)

    def call(method, url):
        return client.request(method, url, content=body(method), timeout=job.timeout).status_code

    return call


async def with_aiohttp(job):
    """The same for a client that has to be awaited."""
    result = {}
    connector = aiohttp.TCPConnector()  # setting: aiohttp max_idle
    timeout = aiohttp.ClientTimeout(sock_connect=job.timeout, total=2 * job.timeout)
    async with aiohttp.ClientSession(connector=connector, timeout=timeout) as session:

        async def call(method, url):
            async with session.request(method, url, data=body(method)) as answer:
                await answer.read()
                return answer.status

        try:
            if "cold" not in job.variants:
                await call("GET", job.url + "/warm")
                result["warmed"] = now()
            await asyncio.sleep(job.idle)
            result["sent"] = now()
            result["status"] = await call(job.method, job.url + "/again")
        except Exception as e:  # whatever the application would get
            result["error"] = thrown(e)
    report(job, result)


def play(job, make):
    """Warms a connection, leaves it idle, uses it again and prints what came of it."""
    result = {}
    try:
        call = make(job)
        if "cold" not in job.variants:
            call("GET", job.url + "/warm")
            result["warmed"] = now()
        time.sleep(job.idle)
        result["sent"] = now()
        result["status"] = call(job.method, job.url + "/again")
    except Exception as e:  # whatever the application would get
        result["error"] = thrown(e)
    report(job, result)


def now():
    return int(time.time() * 1000)


def thrown(e):
    """The error's classes, from its own up, and its text."""
    causes, cause = [], e.__cause__ or e.__context__
    while cause is not None:
        causes.append(name_of(type(cause)))
        cause = cause.__cause__ or cause.__context__
    return {"names": kinds(type(e)), "text": str(e), "causes": causes}


def kinds(c):
    return [name_of(k) for k in c.__mro__ if k is not object]


def name_of(c):
    return c.__qualname__ if c.__module__ == "builtins" else f"{c.__module__}.{c.__qualname__}"


def related(name):
    """What a class is; nothing when it cannot be found where an application would look."""
    module, _, attribute = name.rpartition(".")
    try:
        place = importlib.import_module(module) if module else builtins
        return {"id": name, "kinds": kinds(getattr(place, attribute))}
    except (ImportError, AttributeError):
        return {"id": name, "kinds": []}


writing = threading.Lock()


def report(job, result):
    with writing:
        print(json.dumps({"id": job.id, **result, "done": now()}), flush=True)


def main():
    if sys.argv[1:] == ["classes"]:
        for line in sys.stdin:
            print(json.dumps(related(line.split("\t")[0].strip())))
        return
    jobs = [Job(line) for line in sys.stdin]
    makers = {"requests": with_requests, "urllib3": with_urllib3, "httpx": with_httpx}
    threads = [threading.Thread(target=play, args=(j, makers[j.client])) for j in jobs if j.client in makers]
    for t in threads:
        t.start()

    async def all_aiohttp():
        await asyncio.gather(*(with_aiohttp(j) for j in jobs if j.client == "aiohttp"))

    asyncio.run(all_aiohttp())
    for t in threads:
        t.join()


main()
