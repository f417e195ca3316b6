import { readFileSync } from 'node:fs'
import { Validator } from '@cfworker/json-schema'

/** Compares answers and messages of real servers with openapi.json and asyncapi.json. Both leave objects open for later fields; here they are closed. */

type Json = Readonly<Record<string, unknown>>
interface Described {
  readonly content?: Readonly<Record<string, { readonly schema: Json }>>
}
interface Responses {
  readonly responses: Readonly<Record<string, Described & { readonly $ref?: string }>>
}
type Operations = Readonly<Record<string, Responses | undefined>>
interface Message {
  readonly contentType: string
  readonly headers?: Json
  readonly payload: Json
}

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))
export const openapi = read('openapi.json') as {
  readonly paths: Readonly<Record<string, Operations>>
  readonly components: { readonly schemas: Json; readonly responses: Readonly<Record<string, Described>> }
}
const asyncapi = read('asyncapi.json') as {
  readonly components: { readonly schemas: Json; readonly messages: Readonly<Record<string, Message>> }
}

/** No field that is not described. */
function closed(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(closed)
  if (typeof schema !== 'object' || schema === null) return schema
  const inner = Object.fromEntries(Object.entries(schema).map(([name, value]) => [name, closed(value)]))
  return 'properties' in inner && inner.type === 'object' ? { additionalProperties: false, ...inner } : inner
}

function judgeWith(schemas: Json): (schema: Json, value: unknown) => readonly string[] {
  const local = (schema: unknown): Json =>
    JSON.parse(JSON.stringify(schema).replaceAll('#/components/schemas/', '#/$defs/'))
  const $defs = local(closed(schemas))
  const validators = new Map<string, Validator>()
  return (schema, value) => {
    const key = JSON.stringify(schema)
    const validator = validators.get(key) ?? new Validator({ ...local(closed(schema)), $defs }, '2020-12', false)
    validators.set(key, validator)
    const { valid, errors } = validator.validate(value)
    return valid ? [] : errors.map(({ instanceLocation, error }) => `${instanceLocation}: ${error}`)
  }
}
const judgeAnswer = judgeWith(openapi.components.schemas)
const judgeMessage = judgeWith(asyncapi.components.schemas)

const TEMPLATES = Object.keys(openapi.paths).map((template) => ({
  template,
  pattern: new RegExp(`^${template.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+')}$`),
}))

export interface Answered {
  readonly status: number
  readonly type: string | undefined
  readonly body: string
}

const seen = new Set<string>()
/** The statuses of a path that no answer of this file has had yet, such as `GET /log 410`. */
export const unseen = (start: string, besides: readonly number[]): readonly string[] =>
  Object.entries(openapi.paths)
    .filter(([template]) => template.startsWith(start))
    .flatMap(([template, operations]) =>
      Object.entries(operations).flatMap(([method, operation]) =>
        Object.entries(operation?.responses ?? {})
          .filter(([status, { $ref }]) => !$ref && !besides.includes(Number(status)))
          .map(([status]) => `${method} ${template} ${status}`),
      ),
    )
    .filter((each) => !seen.has(each))

/** Throws if a path of openapi.json answers what is not in it. */
export function requireDescribed(method: string, path: string, { status, type, body }: Answered): void {
  const template = TEMPLATES.find(({ pattern }) => pattern.test(path.split('?', 1)[0] ?? ''))?.template
  const operations = template === undefined ? undefined : openapi.paths[template]
  if (!operations) return
  const name = [method.toLowerCase(), ...(method === 'HEAD' ? ['get'] : []), 'x-other-methods', 'get'].find(
    (each) => operations[each],
  )
  const where = `${name} ${template} ${status}`
  const found = operations[name ?? '']?.responses[status]
  if (!found) throw new Error(`openapi.json has no ${where}: ${type}, ${body.slice(0, 300)}`)
  seen.add(where)
  const { content } = found.$ref ? (openapi.components.responses[found.$ref.split('/').at(-1) ?? ''] ?? {}) : found
  if (method === 'HEAD' || (body === '' && type === undefined)) return
  const media = type?.split(';', 1)[0] ?? ''
  const schema = content?.[media]?.schema
  if (!schema) throw new Error(`openapi.json has no ${media} for ${where}: ${body.slice(0, 300)}`)
  const problems = media.endsWith('x-ndjson')
    ? body
        .split('\n')
        .filter((line) => line !== '')
        .flatMap((line) => judgeAnswer({ $ref: '#/components/schemas/PhaseChange' }, JSON.parse(line)))
    : judgeAnswer(schema, media.endsWith('json') ? JSON.parse(body) : body)
  if (problems.length > 0) throw new Error(`${where} is not as openapi.json has it:\n${problems.join('\n')}\n${body}`)
}

/** The same for an answer of fetch, which is then read. */
export async function describedText(method: string, path: string, answer: Response): Promise<string> {
  const body = await answer.text()
  requireDescribed(method, path, { status: answer.status, type: answer.headers.get('content-type') ?? undefined, body })
  return body
}

/** The name of the one message of asyncapi.json that this is. Throws if it is none, or several. */
export function messageIn(headers: Readonly<Record<string, unknown>>, body: string): string {
  const value: unknown = JSON.parse(body)
  const problems: string[] = []
  const names = Object.entries(asyncapi.components.messages).flatMap(([name, { contentType, ...message }]) => {
    if (headers['content-type'] !== contentType) return []
    const wrong = [
      ...judgeMessage(message.payload, value),
      // A message may have more headers than those.
      ...judgeMessage({ ...message.headers, additionalProperties: true }, headers),
    ]
    if (wrong.length > 0) problems.push(`${name}: ${wrong.join('; ')}`)
    return wrong.length === 0 ? [name] : []
  })
  const [name] = names
  if (name === undefined || names.length > 1)
    throw new Error(`asyncapi.json has ${names.join(' and ') || 'no message'} for ${body}\n${problems.join('\n')}`)
  return name
}
