import { operation } from './operations.ts'
import type { Tape } from './tape.ts'
import { json, text } from './values.ts'

/** Bytes of an HTTP request, as a client may send them: in UTF-8, sent in parts. */
export function httpRequest(tape: Tape): readonly string[] {
  const sent = body(tape)
  const path = tape.pick([
    '/graphql',
    '/graphql',
    `/graphql?query=${encodeURIComponent(JSON.stringify(operation(tape, ['query']).query) ?? '').slice(0, 2_000)}&variables=${encodeURIComponent(JSON.stringify(json(tape)) ?? '')}`,
    `/graphql?query=%7Bviewer%7Bname%7D%7D&${tape.pick(['variables=%', 'variables=1', 'extensions={', '__proto__=1', 'query=a', '%ff=%00'])}`,
    '/',
    '/metrics',
    '/readyz',
    '/graphiql',
    `/${encodeURIComponent(text(tape).toWellFormed()).slice(0, 500)}`,
    '/assets/..%2f..%2fetc%2fpasswd',
    '//evil.example/',
    'http://evil.example/graphql',
    '*',
  ])
  const method = tape.pick([
    'POST',
    'POST',
    'POST',
    'GET',
    'HEAD',
    'OPTIONS',
    'PUT',
    'DELETE',
    'CONNECT',
    'TRACE',
    'post',
    'A',
    '',
  ])
  const version = tape.once(15) ? tape.pick(['HTTP/1.0', 'HTTP/2.0', 'HTTP/9', '']) : 'HTTP/1.1'
  const framing = tape.pick<() => readonly [string, string]>([
    () => [`content-length: ${Buffer.byteLength(sent)}\r\n`, sent],
    () => ['transfer-encoding: chunked\r\n', chunked(sent)],
    () => ['transfer-encoding: chunked\r\n', tape.pick(['zz\r\n', '5\r\nab', '0\r\n', '-1\r\n\r\n', 'ffffffffff\r\n'])],
    () => [`content-length: ${Buffer.byteLength(sent) + 10}\r\n`, sent],
    () => [`content-length: ${Math.floor(Buffer.byteLength(sent) / 2)}\r\n`, sent],
    () => ['content-length: 1\r\ncontent-length: 2\r\n', sent],
    () => ['content-length: 5\r\ntransfer-encoding: chunked\r\n', sent],
    () => [`content-length: ${tape.pick(['-1', '1e9', '99999999999999999999', 'a', '17000000'])}\r\n`, sent],
    () => ['', ''],
  ])()
  const headers = [
    tape.once(12) ? '' : 'host: @host\r\n',
    tape.once(8) ? '' : 'authorization: @bearer\r\n',
    tape.once(8) ? '' : `content-type: ${contentType(tape)}\r\n`,
    ...tape.list(4, () => header(tape)),
    'connection: close\r\n',
    framing[0],
  ]
  const whole = `${method} ${path} ${version}\r\n${headers.join('')}\r\n${framing[1]}`
  const cut = tape.once(6) ? tape.int(whole.length) : whole.length
  return tape.once(5)
    ? [whole.slice(0, Math.floor(cut / 2)), whole.slice(Math.floor(cut / 2), cut)]
    : [whole.slice(0, cut)]
}

const chunked = (sent: string): string => `${Buffer.byteLength(sent).toString(16)}\r\n${sent}\r\n0\r\n\r\n`

const contentType = (tape: Tape): string =>
  tape.pick([
    ...['application/json', 'application/json', 'application/json; charset=utf-8', 'application/json; charset=utf-16'],
    ...['application/graphql', 'application/x-www-form-urlencoded', 'text/plain', 'multipart/form-data; boundary=a'],
    ...['application/graphql+json', 'application/json, application/json', '', ';', 'a/b; c="'],
  ])

const header = (tape: Tape): string =>
  tape.pick([
    'accept: application/json\r\n',
    'accept: text/event-stream\r\n',
    'accept: application/graphql-response+json\r\n',
    'accept: multipart/mixed\r\n',
    'accept: ;q=,\r\n',
    'authorization: Bearer x\r\n',
    'authorization: @bearer\r\n',
    'host: evil.example\r\n',
    'origin: null\r\n',
    'origin: http://[\r\n',
    'x-forwarded-for: 1.2.3.4, ::\r\n',
    'expect: 100-continue\r\n',
    'expect: nothing\r\n',
    'content-encoding: gzip\r\n',
    'accept-encoding: gzip, br\r\n',
    'upgrade: websocket\r\nconnection: upgrade\r\n',
    'upgrade: h2c\r\n',
    'sec-websocket-key: a\r\nsec-websocket-version: 12\r\n',
    'range: bytes=0-1\r\n',
    'if-none-match: *\r\n',
    `x: ${'x'.repeat(20_000)}\r\n`,
    'no colon\r\n',
    ' folded: yes\r\n',
    `${text(tape)}: ${text(tape)}\r\n`,
  ])

const body = (tape: Tape): string =>
  tape.pick<() => string>([
    () => JSON.stringify(operation(tape, ['query', 'mutation'])),
    () => JSON.stringify(operation(tape)),
    () => JSON.stringify([operation(tape, ['query']), operation(tape, ['query'])]),
    () => JSON.stringify(json(tape)) ?? '',
    () =>
      `{"query":"{viewer{name}}","variables":${tape.pick(['{', '1', '[]', '"a"', 'null', '{"a":1e999}', '{"__proto__":{"a":1}}'])}}`,
    () => '{"query":"{viewer{name}}","query":"{","variables":{}}',
    () => `query=${encodeURIComponent('{viewer{name}}')}&variables=%7B%7D`,
    () => '--a\r\ncontent-disposition: form-data; name="operations"\r\n\r\n{"query":"{viewer{name}}"}\r\n--a--\r\n',
    () => text(tape),
    () => '\ufeff{"query":"{viewer{name}}"}',
  ])()
