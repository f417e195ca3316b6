import { expect, test } from 'vitest'
import { readCloudEvents } from '../../src/hooks/rules/cloud-events.ts'

const io = {
  text: (body: Buffer) =>
    body.toString().isWellFormed() && !body.toString().includes('\ufffd') ? body.toString() : null,
  parse: (text: string): unknown => JSON.parse(text),
}
const read = (headers: Readonly<Record<string, string>>, body: string | Buffer) =>
  readCloudEvents(headers, Buffer.from(body), io)

// The examples of the HTTP protocol binding, in all three modes: one event.
const ATTRIBUTES = {
  specversion: '1.0',
  type: 'com.example.someevent',
  time: '2018-04-05T03:56:24Z',
  id: '1234-1234-1234',
  source: '/mycontext/subcontext',
}
const DATA = { message: 'Hello' }

test('the three modes bring the same event', () => {
  const binary = read(
    {
      ...Object.fromEntries(Object.entries(ATTRIBUTES).map(([name, value]) => [`ce-${name}`, value])),
      ...{ 'content-type': 'application/json; charset=utf-8', host: 'www.example.com' },
    },
    JSON.stringify(DATA),
  )
  const event = { ...ATTRIBUTES, datacontenttype: 'application/json; charset=utf-8', data: DATA }
  expect(binary).toEqual({ ok: true, events: [event] })
  const structured = read({ 'content-type': 'application/cloudevents+json; charset=utf-8' }, JSON.stringify(event))
  expect(structured).toEqual(binary)
  const batch = read(
    { 'content-type': 'application/cloudevents-batch+json' },
    JSON.stringify([event, { ...event, id: '2' }]),
  )
  expect(batch).toEqual({ ok: true, events: [event, { ...event, id: '2' }] })
  expect(read({ 'content-type': 'application/cloudevents-batch+json' }, '[]')).toEqual({ ok: true, events: [] })
})

test('data of any type, and attributes as URLs encode them', () => {
  const headers = {
    'ce-specversion': '1.0',
    'ce-type': 't',
    'ce-id': '1',
    'ce-source': '/a',
    'ce-subject': 'Euro%20%E2%82%AC%20%F0%9F%98%80',
  }
  const binary = (more: object, body: string | Buffer) => {
    const found = read({ ...headers, ...more }, body)
    return found.ok ? found.events[0] : found
  }
  expect(binary({}, '')).toEqual({ specversion: '1.0', type: 't', id: '1', source: '/a', subject: 'Euro € 😀' })
  expect(binary({ 'content-type': 'text/plain' }, 'hi')).toMatchObject({ data: 'hi' })
  expect(binary({ 'content-type': 'image/png' }, Buffer.from([0x89, 0x50]))).toMatchObject({ data_base64: 'iVA=' })
  expect(binary({ 'content-type': 'application/vnd.x+json' }, '[1]')).toMatchObject({ data: [1] })
  expect(binary({ 'ce-subject': '100%' }, '')).toMatchObject({ subject: '100%' })
})

test.each([
  [{ 'ce-specversion': '1.0', 'ce-type': 't', 'ce-source': '/a' }, '', /no id/],
  [{ 'ce-specversion': '1.0', 'ce-type': 't', 'ce-source': '/a', 'ce-id': '' }, '', /no id/],
  [{ 'content-type': 'application/cloudevents+json' }, '{"specversion":"1.0","type":"t","source":"/a"}', /no id/],
  [
    { 'content-type': 'application/cloudevents+json' },
    '{"specversion":"1.0","type":"t","source":"/a","id":7}',
    /no id/,
  ],
  [
    { 'content-type': 'application/cloudevents+json' },
    '{"specversion":"0.3","type":"t","source":"/a","id":"7"}',
    /0\.3/,
  ],
  [{ 'content-type': 'application/cloudevents+json' }, '{', /not JSON/],
  [{ 'content-type': 'application/cloudevents+json' }, '[]', /JSON object/],
  [{ 'content-type': 'application/cloudevents+xml' }, '<a/>', /send JSON/],
  [{ 'content-type': 'application/cloudevents-batch+json' }, '{}', /JSON array/],
  [{ 'content-type': 'application/cloudevents-batch+json' }, `[${Array(101).fill('{}').join()}]`, /at most 100/],
  [
    { 'content-type': 'application/cloudevents-batch+json' },
    '[{"specversion":"1.0","type":"t","source":"/a","id":"1"},{}]',
    /Event 2/,
  ],
  [{ 'content-type': 'application/json' }, '{"id":"1"}', /neither headers/],
  [
    { 'ce-specversion': '1.0', 'ce-type': 't', 'ce-source': '/a', 'ce-id': '1', 'content-type': 'application/json' },
    '{',
    /data is not JSON/,
  ],
  [
    { 'content-type': 'application/cloudevents+json' },
    '{"specversion":"1.0","type":"t","source":"/a","id":"1","data":1,"data_base64":"AA=="}',
    /both/,
  ],
])('what is no CloudEvent is refused: %j %s', (headers, body, message) => {
  expect(read(headers as unknown as Record<string, string>, body)).toEqual({
    ok: false,
    message: expect.stringMatching(message),
  })
})
