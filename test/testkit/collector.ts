import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A span as it was sent. */
export interface SentSpan {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | undefined
  readonly name: string
  readonly service: string
  readonly attributes: Readonly<Record<string, unknown>>
  /** Trace ids. */
  readonly links: readonly string[]
}

export interface Collector extends AsyncDisposable {
  /** For OTEL_EXPORTER_OTLP_ENDPOINT. */
  readonly url: string
  readonly spans: readonly SentSpan[]
  readonly requests: readonly { readonly path: string; readonly headers: Readonly<Record<string, unknown>> }[]
}

interface Value {
  readonly stringValue?: string
  readonly intValue?: string | number
  readonly doubleValue?: number
  readonly boolValue?: boolean
}
interface Attribute {
  readonly key: string
  readonly value: Value
}
interface WireSpan extends Pick<SentSpan, 'traceId' | 'spanId' | 'parentSpanId' | 'name'> {
  readonly attributes?: readonly Attribute[]
  readonly links?: readonly { readonly traceId: string }[]
}
interface Export {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] }
    readonly scopeSpans: readonly { readonly spans: readonly WireSpan[] }[]
  }[]
}

/** A collector of OpenTelemetry's over HTTP with JSON. */
export async function startCollector(): Promise<Collector> {
  const spans: SentSpan[] = []
  const requests: { path: string; headers: Readonly<Record<string, unknown>> }[] = []
  const http = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    requests.push({ path: request.url ?? '', headers: request.headers })
    if (request.headers['content-type'] === 'application/json')
      spans.push(...read(JSON.parse(Buffer.concat(chunks).toString('utf8')) as Export))
    response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
  })
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    spans,
    requests,
    async [Symbol.asyncDispose]() {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  }
}

const read = ({ resourceSpans }: Export): SentSpan[] =>
  resourceSpans.flatMap(({ resource, scopeSpans }) => {
    const service = String(valuesOf(resource.attributes)['service.name'])
    return scopeSpans.flatMap((scope) =>
      scope.spans.map(({ traceId, spanId, parentSpanId, name, attributes = [], links = [] }) => ({
        ...{ traceId, spanId, parentSpanId, name, service, attributes: valuesOf(attributes) },
        links: links.map((link) => link.traceId),
      })),
    )
  })

const valuesOf = (attributes: readonly Attribute[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]))
