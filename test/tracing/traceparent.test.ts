import { expect, test } from 'vitest'
import { judgeTracing } from '../../src/tracing/settings.ts'
import { formatTraceparent, isSampled, parseTraceparent } from '../../src/tracing/traceparent.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const SPAN = '00f067aa0ba902b7'
const VALID = `00-${TRACE}-${SPAN}-01`

test('a traceparent is read, and written again', () => {
  const place = parseTraceparent(VALID, 'vendor=1')
  expect(place).toMatchObject({ traceId: TRACE, spanId: SPAN, traceFlags: 1, isRemote: true })
  expect(place?.traceState?.serialize()).toBe('vendor=1')
  expect(place && formatTraceparent(place)).toBe(VALID)
  expect(place && isSampled(place)).toBe(true)
  // A later version may have more.
  expect(parseTraceparent(`01-${TRACE}-${SPAN}-00-more`)).toMatchObject({ traceId: TRACE, traceFlags: 0 })
})

test.each([
  ['nothing', undefined],
  ['another type', 7],
  ['an empty text', ''],
  ['zeros for the trace', `00-${'0'.repeat(32)}-${SPAN}-01`],
  ['zeros for the span', `00-${TRACE}-${'0'.repeat(16)}-01`],
  ['the version that there is not', `ff-${TRACE}-${SPAN}-01`],
  ['capitals', VALID.toUpperCase()],
  ['more than version 00 has', `${VALID}-more`],
  ['a long text', `01-${TRACE}-${SPAN}-01-${'x'.repeat(10_000)}`],
  ['a line break', `${VALID}\n`],
])('%s is no traceparent', (_, text) => {
  expect(parseTraceparent(text)).toBeNull()
})

test('a tracestate that is too long is left out', () => {
  const place = parseTraceparent(VALID, `v=${'x'.repeat(600)}`)
  expect(place).toMatchObject({ traceId: TRACE })
  expect(place?.traceState).toBeUndefined()
})

test('without an endpoint nothing is traced, and nothing else is judged', () => {
  expect(judgeTracing({ OTEL_TRACES_SAMPLER: 'jaeger_remote' })).toEqual({ tracing: null, problems: [] })
  const url = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }
  expect(judgeTracing({ ...url, OTEL_SDK_DISABLED: 'true' }).tracing).toBeNull()
  expect(judgeTracing({ ...url, OTEL_TRACES_EXPORTER: 'none' }).tracing).toBeNull()
  expect(judgeTracing(url).tracing).toMatchObject({
    url: 'http://collector:4318/v1/traces',
    protocol: 'http/protobuf',
    sampler: 'parentbased_always_on',
    queueSize: 2_048,
  })
})

test('wrong settings are named, and their values are not', () => {
  const { tracing, problems } = judgeTracing({
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318',
    OTEL_EXPORTER_OTLP_PROTOCOL: 'grpc',
    OTEL_EXPORTER_OTLP_HEADERS: 'hidden',
    OTEL_TRACES_SAMPLER: 'sometimes',
    OTEL_TRACES_SAMPLER_ARG: '2',
    OTEL_BSP_MAX_QUEUE_SIZE: '1000000',
  })
  expect(tracing).toBeNull()
  expect(problems.map((problem) => problem.split(':')[0])).toEqual([
    'OTEL_BSP_MAX_QUEUE_SIZE',
    'OTEL_EXPORTER_OTLP_PROTOCOL',
    'OTEL_EXPORTER_OTLP_HEADERS',
    'OTEL_TRACES_SAMPLER',
    'OTEL_TRACES_SAMPLER_ARG',
  ])
  expect(problems.join()).not.toMatch(/hidden|sometimes/)
  expect(judgeTracing({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://a:b@collector' }).problems).toHaveLength(1)
})
