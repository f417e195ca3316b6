import { readFileSync } from 'node:fs'
import asyncapiSchema from '@asyncapi/specs/schemas/3.0.0-without-$id.json' with { type: 'json' }
import { type Schema, Validator } from '@cfworker/json-schema'
import { Validator as OpenApiValidator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'

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
