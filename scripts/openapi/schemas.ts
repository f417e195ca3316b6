import { type GraphQLObjectType, type GraphQLSchema, isObjectType } from 'graphql'
import { DELIVERY_OUTCOMES } from '../../src/core/hook.ts'
import { FAILURE_CODES } from '../../src/core/vocabulary.ts'
import type { BodySchema } from '../../src/server/endpoints/endpoints.ts'
import { type JsonSchema, objectOf } from './json-schema.ts'

/** Schemas of the bodies that `src/server/endpoints/endpoints.ts` names. */

const STRING = { type: 'string' } as const
const BOOLEAN = { type: 'boolean' } as const
const nullable = (type: string): JsonSchema => ({ type: [type, 'null'] })
const object = (properties: Readonly<Record<string, unknown>>, optional: readonly string[] = []): JsonSchema => ({
  type: 'object',
  required: Object.keys(properties).filter((name) => !optional.includes(name)),
  properties,
})
const described = (schema: JsonSchema, description: string): JsonSchema => ({ ...schema, description })

const EXTENSIONS: JsonSchema = {
  type: 'object',
  required: ['code'],
  properties: {
    code: { type: 'string', enum: FAILURE_CODES },
    retryAfterMs: described({ type: 'integer' }, 'Milliseconds after which the request may be repeated.'),
  },
  // Codes have fields of their own, such as those of CURSOR_EXPIRED.
  additionalProperties: true,
}
const ERROR = object({ message: STRING, extensions: EXTENSIONS })
/** Errors of an operation say where they come from. */
const LOCATED = object(
  {
    ...{ message: STRING, extensions: EXTENSIONS },
    path: { type: 'array', items: { type: ['string', 'integer'] } },
    locations: { type: 'array', items: object({ line: { type: 'integer' }, column: { type: 'integer' } }) },
  },
  ['path', 'locations'],
)
const OPEN: JsonSchema = { type: 'object', additionalProperties: true }

/** A line of the log: the fields of `PhaseChange`, without the object as it is now. */
export const phaseChangeOf = (schema: GraphQLSchema): JsonSchema =>
  objectOf(typeOf(schema, 'PhaseChange'), (field) => field !== 'object')

function typeOf(schema: GraphQLSchema, name: string): GraphQLObjectType {
  const type = schema.getType(name)
  if (!isObjectType(type)) throw new Error(`The schema has no type ${name}.`)
  return type
}

export const BODIES: Readonly<Record<BodySchema, JsonSchema>> = {
  Errors: object({ errors: { type: 'array', minItems: 1, items: ERROR } }),
  GraphQLRequest: {
    ...object({ query: STRING, documentId: STRING, operationName: STRING, variables: OPEN, extensions: OPEN }),
    required: [],
  },
  GraphQLAnswer: {
    ...object({
      data: { type: ['object', 'null'], additionalProperties: true },
      errors: { type: 'array', minItems: 1, items: LOCATED },
      extensions: OPEN,
    }),
    required: [],
    anyOf: [{ required: ['data'] }, { required: ['errors'] }],
  },
  Events: described(STRING, 'Server-sent events, as graphql-sse has them in its distinct connections mode.'),
  Deliveries: object({
    deliveries: {
      type: 'array',
      items: object({
        id: STRING,
        deliveryId: described(nullable('string'), 'As the sender names it; null: it does not.'),
        outcome: { type: 'string', enum: DELIVERY_OUTCOMES },
        reason: nullable('string'),
        eventId: described(nullable('string'), 'The event that it has, or that the delivery has that it repeats.'),
      }),
    },
  }),
  WrittenArtifact: object({
    id: STRING,
    size: described({ type: 'integer' }, 'Bytes.'),
    sha256: { type: 'string', pattern: '^[0-9a-f]{64}$' },
  }),
  PhaseChangeLines: described(STRING, 'Lines of JSON, each a `PhaseChange`.'),
  SealLines: described(STRING, 'Lines of JSON, each a seal, as docs/verify.md describes it.'),
  Readiness: object({
    ready: BOOLEAN,
    checks: { type: 'array', items: object({ name: STRING, ok: BOOLEAN, reason: nullable('string') }) },
  }),
  Logins: object({
    logins: {
      type: 'array',
      items: object({
        ...{ issuer: STRING, clientId: STRING, deviceClientId: STRING, scope: STRING, resource: nullable('string') },
        token: { type: 'string', enum: ['access', 'id'] },
      }),
    },
  }),
  SignIn: object({
    token: STRING,
    key: { type: 'string', pattern: '^pl_page_[A-Za-z0-9_-]{43}$' },
    isKept: described(BOOLEAN, 'True if the cookie outlives the browser.'),
  }),
  Text: STRING,
  Bytes: {},
  Description: OPEN,
}
