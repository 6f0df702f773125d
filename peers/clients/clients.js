// Runs Node's HTTP clients against servers that misbehave and says what each made of it. Every line of the input is a job
// (see parse). Every line of the output is JSON.
'use strict';

const http = require('http');
const https = require('https');

function parse(line) {
  const [id, client, variants, url, method, idle, timeout] = line.split('\t');
  return { id, client, variants: variants.split(','), url, method, idle: Number(idle), timeout: Number(timeout) };
}

const bodyOf = (method) => (method === 'POST' ? '{}' : undefined);

// node:http with an Agent that keeps connections.
function withHTTP(job) {
  const agent = new http.Agent({ keepAlive: true }); // setting: node-http max_idle
  const secure = job.url.startsWith('https:');
  return (method, url) =>
    new Promise((resolve, reject) => {
      const options = { method, agent: secure ? undefined : agent, timeout: job.timeout };
      const request = (secure ? https : http).request(url, options, (answer) => {
        answer.on('error', reject);
        answer.on('end', () => resolve(answer.statusCode));
        answer.resume();
      });
      request.on('error', reject);
      request.on('timeout', () => request.destroy()); // the option alone ends nothing
      request.end(bodyOf(method));
    });
}

// Node carries undici inside and exports neither of the two names that its documentation uses. The class is the real one.
let Agent;
async function findAgent() {
  await fetch('data:,'); // the first use makes it
  Agent = globalThis[Symbol.for('undici.globalDispatcher.1')].constructor;
}

// fetch with an Agent of the job's own: the global one is shared.
function withFetch(job) {
  let dispatcher;
  const setGlobalDispatcher = (agent) => {
    dispatcher = agent;
    const dispatch = agent.dispatch.bind(agent); // in Node 18 fetch asks for five minutes, whatever the Agent's own
    agent.dispatch = (options, handler) => dispatch({ ...options, headersTimeout: job.timeout }, handler);
  };
  setGlobalDispatcher(new Agent({ connect: { timeout: job.timeout } })); // setting: node-fetch max_idle
  return async (method, url) => {
    const answer = await fetch(url, { method, body: bodyOf(method), dispatcher });
    await answer.arrayBuffer();
    return answer.status;
  };
}

// Warms a connection, leaves it idle, uses it again and prints what came of it.
async function play(job, call) {
  const result = { id: job.id };
  try {
    if (!job.variants.includes('cold')) {
      await call('GET', job.url + '/warm');
      result.warmed = Date.now();
    }
    // In steps, so that what came is read before the request leaves also where the machine is busy.
    for (let step = 0; step < 5; step++) await new Promise((resolve) => setTimeout(resolve, job.idle / 5));
    result.sent = Date.now();
    result.status = await call(job.method, job.url + '/again');
  } catch (e) {
    result.error = thrown(e);
  }
  result.done = Date.now();
  console.log(JSON.stringify(result));
}

// The codes and names by which an error and what it wraps are known, the most exact first, and its text.
function thrown(e) {
  const names = [];
  for (const each of e.cause ? [e.cause, e] : [e]) {
    for (const n of [each.code, ...kinds(each)]) {
      if (n && !names.includes(n)) names.push(n);
    }
  }
  return { names, text: e.cause ? `${e.message} (${e.cause.message})` : e.message };
}

function kinds(e) {
  const names = [e.name];
  for (let p = Object.getPrototypeOf(e); p && p !== Object.prototype; p = Object.getPrototypeOf(p)) {
    names.push(p.constructor.name);
  }
  return names;
}

// Gives a job up without a word: a promise that is never settled must not hold the others.
function patience(job) {
  return new Promise((resolve) => setTimeout(resolve, job.idle + 3 * job.timeout));
}

async function main() {
  let input = '';
  for await (const chunk of process.stdin) input += chunk;
  const jobs = input.trim().split('\n').map(parse);
  await findAgent();
  setInterval(() => {}, 1000); // undici's timers alone keep no process alive
  const makers = { 'node-http': withHTTP, 'node-fetch': withFetch };
  await Promise.all(jobs.map((job) => Promise.race([play(job, makers[job.client](job)), patience(job)])));
  process.exit(0);
}

main();
