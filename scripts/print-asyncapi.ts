import { readFileSync } from 'node:fs'
import { buildSchema } from 'graphql'
import packageJson from '../package.json' with { type: 'json' }
import { HOPS_HEADER } from '../src/core/hook.ts'
import { LOG_PATH, NDJSON } from '../src/server/endpoints/endpoints.ts'
import { WEBHOOK_HEADERS } from '../src/standard-webhooks.ts'
import type { JsonSchema } from './openapi/json-schema.ts'
import { changeOf, cloudEventOf, DATA, SLACK, webhookOf } from './openapi/messages.ts'
import { phaseChangeOf } from './openapi/schemas.ts'
import { writeDocument } from './openapi/write-document.ts'

/** Writes asyncapi.json: the messages that a server sends. With `--check`: writes nothing, and fails when it is stale. */

const schema = buildSchema(readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8'))
const TEXT = { type: 'string' }

const HOPS = {
  [HOPS_HEADER]: { type: 'string', pattern: '^[0-9]+$', description: 'How often its chain has come back.' },
}
const SIGNED: JsonSchema = {
  type: 'object',
  required: [HOPS_HEADER, WEBHOOK_HEADERS.id, WEBHOOK_HEADERS.timestamp],
  properties: {
    ...HOPS,
    [WEBHOOK_HEADERS.id]: { ...TEXT, description: 'The same in each repetition.' },
    [WEBHOOK_HEADERS.timestamp]: { ...TEXT, description: 'Seconds since 1970 of this attempt.' },
    [WEBHOOK_HEADERS.signature]: { ...TEXT, description: 'There if the rule names a secret.' },
  },
}
const UNSIGNED: JsonSchema = { type: 'object', required: [HOPS_HEADER], properties: HOPS }

const messages = {
  ...Object.fromEntries(
    Object.entries(DATA).flatMap(([type, { name }]) => [
      [`Webhook${name}`, { contentType: 'application/json', headers: SIGNED, payload: webhookOf(type) }],
      [
        `CloudEvent${name}`,
        { contentType: 'application/cloudevents+json', headers: SIGNED, payload: cloudEventOf(type) },
      ],
    ]),
  ),
  Slack: { contentType: 'application/json', headers: UNSIGNED, payload: SLACK },
  LogLine: { contentType: NDJSON, payload: { $ref: '#/components/schemas/PhaseChange' } },
}
const namesWith = (start: string): readonly string[] => Object.keys(messages).filter((name) => name.startsWith(start))
const referTo = (names: readonly string[]) =>
  Object.fromEntries(names.map((name) => [name, { $ref: `#/components/messages/${name}` }]))

const CHANNELS = {
  webhook: {
    start: 'Webhook',
    description: 'The URL of a receiver `webhook`: JSON, signed as Standard Webhooks says.',
  },
  cloudEvents: {
    start: 'CloudEvent',
    description: 'The URL of a receiver `cloudEvents`: a CloudEvent in structured mode, signed likewise.',
  },
  slack: { start: 'Slack', description: 'The secret URL of a receiver `slack`: a text.' },
} as const

writeDocument('asyncapi.json', {
  asyncapi: '3.0.0',
  info: {
    title: 'Messages of Phaseline',
    version: packageJson.version,
    license: { name: packageJson.license },
    description:
      'The messages that a server posts for notification rules, at least once and in order for each object, and the lines of its log. ' +
      'GraphQL subscriptions have their types in schema.graphql.',
  },
  defaultContentType: 'application/json',
  channels: {
    ...Object.fromEntries(
      Object.entries(CHANNELS).map(([name, { start, description }]) => [
        name,
        { address: null, description, messages: referTo(namesWith(start)) },
      ]),
    ),
    log: {
      address: LOG_PATH,
      description: 'A page of the log has one message in each line; `openapi.json` has its parameters.',
      messages: referTo(['LogLine']),
    },
  },
  operations: Object.fromEntries(
    [...Object.keys(CHANNELS), 'log'].map((name) => [
      `send${name.charAt(0).toUpperCase()}${name.slice(1)}`,
      { action: 'send', channel: { $ref: `#/channels/${name}` } },
    ]),
  ),
  components: {
    messages: Object.fromEntries(Object.entries(messages).map(([name, message]) => [name, { name, ...message }])),
    schemas: {
      Change: changeOf(schema),
      ...Object.fromEntries(Object.values(DATA).map(({ name, schema }) => [`${name}Data`, schema])),
      PhaseChange: phaseChangeOf(schema),
    },
  },
})
