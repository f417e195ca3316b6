import { readFileSync } from 'node:fs'
import asyncapiSchema from '@asyncapi/specs/schemas/3.0.0-without-$id.json' with { type: 'json' }
import { type Schema, Validator } from '@cfworker/json-schema'
import { Validator as OpenApiValidator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import { HOPS_HEADER } from '../../src/core/hook.ts'
import { bodyOf } from '../../src/families/notifications/rules/message.ts'
import type { Told, ToldChange } from '../../src/families/notifications/rules/spec.ts'
import { WEBHOOK_HEADERS } from '../../src/standard-webhooks.ts'
import { messageIn } from '../testkit/described.ts'

/** The descriptions of the API are documents of their specifications. */

const read = (name: string) => JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'))

test('openapi.json is one of OpenAPI 3.1', async () => {
  const validator = new OpenApiValidator()
  expect(await validator.validate(read('openapi.json'))).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
  const broken = read('openapi.json')
  delete broken.paths['/log'].get.parameters[0].in
  expect(await validator.validate(broken)).toMatchObject({ valid: false })
})

test('asyncapi.json is one of AsyncAPI 3.0', () => {
  const validator = new Validator(asyncapiSchema as unknown as Schema, '7')
  expect(validator.validate(read('asyncapi.json')).errors).toEqual([])
  const broken = read('asyncapi.json')
  broken.operations.sendLog.action = 'shout'
  expect(validator.validate(broken).valid).toBe(false)
})

const CHANGE: ToldChange = {
  ...{
    sequence: 1,
    objectId: 'o',
    rootId: 'r',
    parentPath: 'shop',
    projectName: 'website',
    kind: 'JOB',
    name: 'build',
  },
  ...{ from: null, to: 'FAILED', actor: 'RUNTIME', by: null, reason: null, message: null },
  ...{ at: '2026-11-21T10:00:00.000Z', phaseClass: 'FAILED' },
}
const TOLD: Readonly<Record<string, Told>> = {
  PhaseChanged: { type: 'CHANGE', change: CHANGE },
  Digest: { type: 'DIGEST', changes: [CHANGE], count: 3, lastSequence: 3 },
  Test: { type: 'TEST', by: 'ada' },
  Gap: { type: 'GAP', after: 1, upTo: 9 },
}

test.each(Object.entries(TOLD))('asyncapi.json has the message %s in each form', (name, told) => {
  const facts = { id: 'm', rule: 'failures', project: 'website', told, isLate: false, text: null, dashboard: null }
  const headers = { [HOPS_HEADER]: '1', [WEBHOOK_HEADERS.id]: 'm', [WEBHOOK_HEADERS.timestamp]: '1' }
  const messages = (['WEBHOOK', 'CLOUDEVENTS', 'SLACK'] as const).map((channel) => {
    const { contentType, text } = bodyOf(channel, facts, new Date())
    return messageIn({ ...headers, 'content-type': contentType }, text)
  })
  expect(messages).toEqual([`Webhook${name}`, `CloudEvent${name}`, 'Slack'])
})
