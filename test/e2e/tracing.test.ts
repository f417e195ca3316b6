import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { gadgetFolder } from '../agents/gadget-folder.ts'
import { startTestApp } from '../testkit/app.ts'
import { ask } from '../testkit/ask.ts'
import { startCollector } from '../testkit/collector.ts'
import { MUTATIONS } from '../testkit/documents.ts'
import { create, items } from '../testkit/mutations.ts'
import { freePort } from '../testkit/redis.ts'
import { startServer } from '../testkit/server.ts'
import { until } from '../testkit/wait.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const CALLER = `00-${TRACE}-00f067aa0ba902b7-01`
const PROMPT = { OTEL_EXPORTER_OTLP_PROTOCOL: 'http/json', OTEL_BSP_SCHEDULE_DELAY: '50' }

test('one trace leads from a mutation through transactions, claim, agent and gadget to the report', async () => {
  await using collector = await startCollector()
  const folder = await mkdtemp(join(tmpdir(), 'phaseline-tracing-'))
  await using gadgets = await gadgetFolder()
  await gadgets.add('look', 'echo "$TRACEPARENT" >"$GADGET_OUT.new"; mv "$GADGET_OUT.new" "$GADGET_OUT"')
  await using server = await startServer({
    env: {
      ...PROMPT,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_EXPORTER_OTLP_HEADERS: 'x-key=hidden%20key',
      PHASELINE_GADGETS: gadgets.path,
      PHASELINE_PROCESS_RUNTIME: 'trusted',
    },
  })
  const [first, second, worker] = ['first', 'second', 'worker'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ]
  const look = (file: string) => ({ gadget: 'look', env: { GADGET_OUT: file } })
  const send = async (field: string, input: object) => {
    const query = `mutation Ours($input: ${field[0]?.toUpperCase()}${field.slice(1)}Input!) { ${field}(input: $input) { __typename } }`
    const response = await fetch(server.url, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${server.token}`, 'content-type': 'application/json' },
        ...{ traceparent: CALLER, tracestate: `v=${'x'.repeat(600)}`, 'x-request-id': 'request-7' },
      },
      body: JSON.stringify({ query, variables: { input } }),
    })
    expect(await response.json()).not.toHaveProperty('errors')
  }
  await ask(server.client, MUTATIONS.createProject, {
    name: 'traced',
    workerTemplate: { command: ['sh', '-c', `echo "$TRACEPARENT" >"${worker}.new"; mv "${worker}.new" "${worker}"`] },
  })
  const reader = server.client.subscribe('subscription { phaseChanges { sequence } }')[Symbol.asyncIterator]()
  onTestFinished(() => void reader.return?.())
  void reader.next().catch(() => undefined)
  await send('createInstallation', {
    project: 'traced',
    name: 'tree',
    spec: {
      deployItems: [
        { name: 'first', type: 'gadget', config: look(first) },
        { name: 'second', type: 'gadget', config: look(second), dependsOn: ['first'] },
      ],
    },
  })
  await send('createEvent', { project: 'traced', source: 'test', type: 'look' })
  for (const file of [first, second, worker]) {
    const seen = await until(() => readFile(file, 'utf8').catch(() => ''), { what: file })
    expect(seen.trim()).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-01$`))
  }
  const ofTrace = () => collector.spans.filter(({ traceId }) => traceId === TRACE)
  const named = (name: string) => ofTrace().filter((span) => span.name === name)
  await until(() => named('report').length >= 3 && named('gadget').length >= 2 && named('work gadget').length >= 2, {
    what: 'the reports are traced',
  })
  // Spans are sent in batches, each some time after its end.
  const sent = <T>(what: string, find: () => T) => until(find, { what })
  // Each change is numbered in the trace, and handed to the subscription.
  await sent('the numberings are traced', () => named('number').length > 2)
  const delivered = await sent('a delivery is traced', () => named('deliver')[0])
  expect(delivered.attributes['phaseline.log.subscriptions']).toBe(1)
  const numbering = await sent('its numbering is traced', () =>
    named('number').find(({ spanId }) => spanId === delivered.parentSpanId),
  )
  expect(numbering).toMatchObject({ service: 'phaseline' })
  // A mutation, and the transaction in which the first work is handed out.
  const mutation = await sent('the mutation is traced', () => named('mutation createInstallation')[0])
  expect(mutation).toMatchObject({ parentSpanId: '00f067aa0ba902b7', service: 'phaseline' })
  expect(mutation.attributes).toMatchObject({
    'graphql.operation.name': 'Ours',
    'phaseline.outcome': 'ok',
    'phaseline.request.id': 'request-7',
  })
  const creation = await sent('its transaction is traced', () =>
    named('transaction').find(({ parentSpanId }) => parentSpanId === mutation.spanId),
  )
  expect(Number(creation.attributes['phaseline.transaction.statements'])).toBeGreaterThan(2)
  expect(creation.attributes).toHaveProperty(['phaseline.transaction.lane_wait_ms'])
  // Each span but the first has its parent in the same trace.
  const handed = () => [...named('claim'), ...named('dispatch')]
  await sent('the work is handed out', () => handed().length >= 3)
  const orphans = () => {
    const ids = new Set([...ofTrace().map(({ spanId }) => spanId), '00f067aa0ba902b7'])
    return [...handed(), ...named('work gadget'), ...named('gadget')].filter(
      ({ parentSpanId = '' }) => !ids.has(parentSpanId),
    )
  }
  await expect.poll(orphans).toEqual([])
  expect(named('work gadget')[0]?.service).toBe('phaseline-agents')
  expect(collector.requests[0]).toMatchObject({ path: '/v1/traces', headers: { 'x-key': 'hidden key' } })
  // Traces contain no variable, no config and no key.
  expect(JSON.stringify(collector.spans)).not.toMatch(/GADGET_OUT|hidden|look at/)
  expect(server.output()).not.toContain('hidden')
  await rm(folder, { recursive: true, force: true })
})

test('with sampling at 0 nothing is sent, a caller that samples is followed all the same', async () => {
  await using collector = await startCollector()
  await using app = await startTestApp({
    env: {
      ...PROMPT,
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0',
      PHASELINE_ROLES: 'gateway,engine',
    },
  })
  const send = async (traceparent: string) => {
    const response = await fetch(app.url, {
      method: 'POST',
      headers: { authorization: `Bearer ${app.token}`, 'content-type': 'application/json', traceparent },
      body: JSON.stringify({ query: '{ viewer { role } }' }),
    })
    expect(response.status).toBe(200)
  }
  await create(app.client, 'quiet', items(3))
  for (const malformed of ['', 'nonsense', `${CALLER}-${'x'.repeat(2_000)}`, CALLER.replace(/01$/, '00')])
    await send(malformed)
  await send(CALLER)
  await until(() => collector.spans.length > 0, { what: 'the sampled one is sent' })
  expect(collector.spans).toMatchObject([{ name: 'query viewer', traceId: TRACE }])
})

test('a collector that is away costs no request, and is told of once', async () => {
  const port = await freePort()
  await using app = await startTestApp({
    env: {
      ...PROMPT,
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${port}`,
      OTEL_EXPORTER_OTLP_TIMEOUT: '500',
      OTEL_BSP_MAX_QUEUE_SIZE: '16',
      OTEL_BSP_MAX_EXPORT_BATCH_SIZE: '8',
      PHASELINE_ROLES: 'gateway,engine',
    },
  })
  for (let i = 0; i < 20; i++) await create(app.client, `tree-${i}`, items(2))
  await until(() => app.output().includes('spans could not be sent'), { what: 'the loss is told' })
  expect(app.output().match(/spans could not be sent/g)).toHaveLength(1)
})

test('without an endpoint nothing of the SDK is loaded, and nothing has a trace', async () => {
  await using server = await startServer({
    env: { NODE_OPTIONS: `--import=${new URL('../testkit/list-modules.ts', import.meta.url).href}` },
  })
  await create(server.client, 'plain', items(2))
  await server.stop()
  const loaded = server.output().match(/loaded: .*/g) ?? []
  expect(loaded.join('\n')).toContain('@opentelemetry/api')
  expect(loaded.filter((line) => /@opentelemetry\/(?!api\/)/.test(line))).toEqual([])
})
