import { readFileSync } from 'node:fs'
import { buildSchema, type GraphQLInputObjectType } from 'graphql'
import packageJson from '../package.json' with { type: 'json' }
import { HOOK_FORMATS } from '../src/core/hook.ts'
import { type Answer, COMMON, ENDPOINTS, type Endpoint, type Operation } from '../src/server/endpoints/endpoints.ts'
import { parametersOf } from './openapi/json-schema.ts'
import { BODIES, phaseChangeOf } from './openapi/schemas.ts'
import { VERBS } from './openapi/verbs.ts'
import { writeDocument } from './openapi/write-document.ts'

/** Writes openapi.json, from `src/server/endpoints/endpoints.ts` and schema.graphql. With `--check`: writes nothing, and fails when it is stale. */

const schema = buildSchema(readFileSync(new URL('../schema.graphql', import.meta.url), 'utf8'))
const named = (name: string) => ({ $ref: `#/components/schemas/${name}` })

type Content = NonNullable<Answer['content']>
const contentOf = (content: Content) =>
  Object.fromEntries(
    Object.entries(content).map(([type, [first = 'Bytes', ...more]]) => [
      type,
      { schema: more.length === 0 ? named(first) : { anyOf: [first, ...more].map(named) } },
    ]),
  )

const answerOf = ({ description, content, headers = [] }: Answer) => ({
  description,
  ...(headers.length > 0 && { headers: Object.fromEntries(headers.map((name) => [name, TEXT_HEADER])) }),
  ...(content && { content: contentOf(content) }),
})
const TEXT_HEADER = { schema: { type: 'string' } }
const answersOf = (answers: Readonly<Record<number, Answer>>) =>
  Object.fromEntries(Object.entries(answers).map(([status, answer]) => [status, answerOf(answer)]))

const commonName = (status: string): string => `Common${status}`
const commonAnswers = Object.fromEntries(
  Object.keys(COMMON).map((status) => [status, { $ref: `#/components/responses/${commonName(status)}` }]),
)

const SECURITY: Readonly<Record<Operation['caller'], readonly Readonly<Record<string, readonly string[]>>[]>> = {
  TOKEN: [{ token: [] }],
  SENDER: ['githubSignature', 'gitlabToken', 'token', 'webhookSignature'].map((name) => ({ [name]: [] })),
  // The browser sends the origin, and the token is in the body.
  PAGE: [],
  ANYBODY: [],
}

const parametersFor = ({ parameters = [], parametersOf: input }: Operation) => [
  ...parameters.map((parameter) => ({ ...parameter, required: parameter.required ?? parameter.in === 'path' })),
  ...(input === undefined ? [] : parametersOf(schema.getType(input) as GraphQLInputObjectType)),
]

function operationOf(operation: Operation) {
  const { id, summary, caller, body, answers } = operation
  const parameters = parametersFor(operation)
  return {
    ...{ operationId: id, summary, security: SECURITY[caller] },
    ...(parameters.length > 0 && { parameters }),
    ...(body && {
      requestBody: {
        ...{ description: body.description, required: true },
        content: id === 'graphql' ? withExamples(contentOf(body.content)) : contentOf(body.content),
      },
    }),
    responses: { ...commonAnswers, ...answersOf(answers) },
  }
}

const withExamples = (content: ReturnType<typeof contentOf>) =>
  Object.fromEntries(
    Object.entries(content).map(([type, each]) => [
      type,
      {
        ...each,
        examples: Object.fromEntries(
          Object.entries(VERBS).map(([name, { summary, query, input, answer }]) => [
            name,
            { summary, value: { query, variables: { input } }, 'x-answer': { data: { [name]: answer } } },
          ]),
        ),
      },
    ]),
  )

const pathOf = ({ methods, otherMethods }: Endpoint) => ({
  ...Object.fromEntries(
    Object.entries(methods).map(([method, operation]) => [method.toLowerCase(), operationOf(operation)]),
  ),
  ...(otherMethods && { 'x-other-methods': { responses: { ...commonAnswers, ...answersOf(otherMethods) } } }),
})

const header = (name: string, description: string) => ({ type: 'apiKey', in: 'header', name, description })

writeDocument('openapi.json', {
  openapi: '3.1.1',
  info: {
    title: 'Phaseline over HTTP',
    version: packageJson.version,
    license: { name: packageJson.license, identifier: packageJson.license },
    description:
      'The endpoints of a Phaseline server for programs. Objects are created and changed by POST /graphql, whose types are in schema.graphql; its examples are ten mutations, each with its answer in `x-answer`. ' +
      'A path answers a method that it does not list as `x-other-methods` says; without that, it answers any method as GET. ' +
      'Each answer has the header `x-request-id`, which the log and the audit name. Examples name objects by an id that is none.',
  },
  paths: Object.fromEntries(ENDPOINTS.map((endpoint) => [endpoint.path, pathOf(endpoint)])),
  components: {
    schemas: { ...BODIES, PhaseChange: phaseChangeOf(schema) },
    responses: Object.fromEntries(
      Object.entries(COMMON).map(([status, answer]) => [commonName(status), answerOf(answer)]),
    ),
    securitySchemes: {
      token: {
        ...{ type: 'http', scheme: 'bearer' },
        description: `A token of \`createToken\` or of an issuer; for hooks of ${HOOK_FORMATS.filter((format) => /CLOUD|GENERIC/.test(format)).join(' and ')} their secret.`,
      },
      githubSignature: header('x-hub-signature-256', 'For hooks of GITHUB; those of GENERIC may name a header.'),
      gitlabToken: header('x-gitlab-token', 'For hooks of GITLAB.'),
      webhookSignature: header(
        'webhook-signature',
        'For hooks of STANDARD_WEBHOOKS, with webhook-id and webhook-timestamp.',
      ),
    },
  },
})
