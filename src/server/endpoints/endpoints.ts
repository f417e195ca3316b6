import { FENCE_HEADER, FILE_TYPE, FOLDER_TYPE, MAX_ARTIFACT_BYTES } from '../../core/artifact.ts'
import { HOOK_BODY_MS, MAX_HOOK_BODY } from '../../core/hook.ts'
import { MAX_BODY } from '../../graphql/schema/limits.ts'

/**
 * The endpoints for programs, as data: paths, methods, parameters, and each status with the body that comes with it. Routes and handlers take
 * paths, `allow` and bounds from here, and `openapi.json` is printed from here; a test calls each on a real server and compares.
 */

export const API_PATH = '/graphql'
/** With the id of an artifact to read, or with the id of a workload and the name of what it leaves. */
export const ARTIFACTS_PATH = '/artifacts/'
/** With the names of a project and of one of its hooks. */
export const HOOKS_PATH = '/hooks/'
/** The dashboard has a page of the same address. */
export const LOG_PATH = '/log'
export const SEALS_PATH = '/log/seals'
export const SIGN_IN_PATH = '/sign-in'
export const METRICS_PATH = '/metrics'
export const LOGINS_PATH = '/.well-known/phaseline'
export const PROBE_PATHS = { live: ['/livez', '/healthz'], ready: '/readyz' } as const
/** Descriptions of the API, which are files of the package. */
export const DESCRIPTION_PATHS = ['/openapi.json', '/asyncapi.json'] as const

export const GRAPHQL_RESPONSE = 'application/graphql-response+json'
export const JSON_TYPE = 'application/json'
export const EVENTS = 'text/event-stream'
export const NDJSON = 'application/x-ndjson'
export const LOG_BOUNDS = {
  limit: { most: 1_000, unlessSaid: 500 },
  /** Seconds. */
  wait: 60,
  /** The most that a parameter has. */
  characters: 1_024,
} as const
/** Bytes, and milliseconds within which they arrive: a token has at most 8,192 characters. */
export const SIGN_IN_BODY = { bytes: 16 * 1_024, withinMs: 10_000 } as const

export type Method = 'GET' | 'HEAD' | 'POST' | 'PUT' | 'DELETE' | 'OPTIONS'
/** Schemas of bodies by name, in `scripts/openapi/schemas.ts`. */
export type BodySchema =
  | 'Errors'
  | 'GraphQLRequest'
  | 'GraphQLAnswer'
  | 'Events'
  | 'Deliveries'
  | 'WrittenArtifact'
  | 'PhaseChangeLines'
  | 'SealLines'
  | 'Readiness'
  | 'Logins'
  | 'SignIn'
  | 'Text'
  | 'Bytes'
  | 'Description'
type Content = Readonly<Record<string, readonly BodySchema[]>>

export interface Answer {
  readonly description: string
  /** By media type, one of these. Absent: no body. */
  readonly content?: Content
  /** Besides those that each answer may have. */
  readonly headers?: readonly string[]
}
export interface Parameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly description: string
  readonly schema: Readonly<Record<string, unknown>>
  /** Absent: true for the path alone. */
  readonly required?: boolean
}
type Caller = 'TOKEN' | 'SENDER' | 'PAGE' | 'ANYBODY'
export interface Operation {
  readonly id: string
  readonly summary: string
  readonly caller: Caller
  readonly parameters?: readonly Parameter[]
  /** The fields of this input of the schema are parameters, too. */
  readonly parametersOf?: string
  readonly body?: { readonly description: string; readonly content: Content }
  readonly answers: Readonly<Record<number, Answer>>
}
export interface Endpoint {
  readonly path: string
  /** Its name in the metrics. */
  readonly route: string
  readonly methods: Readonly<Partial<Record<Method, Operation>>>
  /** The answers to other methods. Null: any method is answered as GET. */
  readonly otherMethods: Readonly<Record<number, Answer>> | null
}

const json = (...schemas: readonly BodySchema[]): Content => ({ [JSON_TYPE]: schemas })
const text: Content = { 'text/plain': ['Text'] }
const error = (description: string, ...headers: readonly string[]): Answer => ({
  description,
  content: json('Errors'),
  headers,
})

/** Answers to requests that reach no handler; those without a body come from the parser of requests. */
export const COMMON: Readonly<Record<number, Answer>> = {
  400: error('The request is ambiguous or cannot be parsed; then it has no body.'),
  403: error('The Host header, or the origin of a page, is not one of this server.'),
  408: { description: 'The request has not arrived in time.' },
  413: { description: 'The request is larger than the bound of its parser.' },
  431: { description: 'The headers are too large.' },
  500: error('An error on the server; its log has the reason by `x-request-id`.'),
}
const UNAUTHENTICATED = error('The token is missing, unknown, expired or revoked.', 'www-authenticate')
const UNAVAILABLE = error('The database, or what checks tokens, cannot be reached; try again later.', 'retry-after')
/** For callers with a token. */
const WITH_TOKEN = { 401: UNAUTHENTICATED, 503: UNAVAILABLE }
const WITH_SHARES = { ...WITH_TOKEN, 429: error('The caller has used up a share.', 'retry-after') }
const NOT_ALLOWED = error('Another method; `allow` has those of this path.', 'allow')
const OTHER_METHOD = { 405: NOT_ALLOWED }
const ONLY_GET = { 405: { description: 'Another method than GET and HEAD.', content: text, headers: ['allow'] } }
/** For pages of origins that PHASELINE_ALLOWED_ORIGINS names. */
const PREFLIGHT: Operation = {
  id: '',
  summary: 'The question of a browser whether a page of another origin may call.',
  caller: 'ANYBODY',
  answers: {
    204: {
      description: 'It may.',
      headers: ['access-control-allow-origin', 'access-control-allow-methods', 'access-control-allow-headers'],
    },
    405: NOT_ALLOWED,
  },
}
const preflight = (id: string): Operation => ({ ...PREFLIGHT, id: `preflightOf${id}` })

const inPath = (name: string, description: string): Parameter => ({
  ...{ name, description, in: 'path', schema: { type: 'string' } },
})
const inQuery = (name: string, description: string, schema: Parameter['schema'] = { type: 'string' }): Parameter => ({
  ...{ name, description, in: 'query', schema },
})
const inHeader = (name: string, description: string, required = false): Parameter => ({
  ...{ name, description, in: 'header', schema: { type: 'string' }, required },
})

const GRAPHQL_ANSWERS: Readonly<Record<number, Answer>> = {
  ...WITH_SHARES,
  200: {
    description: 'The operation was executed; `errors` says what failed. A client that accepts events gets those.',
    content: { [GRAPHQL_RESPONSE]: ['GraphQLAnswer'], [JSON_TYPE]: ['GraphQLAnswer'], [EVENTS]: ['Events'] },
  },
  400: {
    description: 'The request is malformed, or the operation is refused before it is executed.',
    content: { [GRAPHQL_RESPONSE]: ['GraphQLAnswer'], [JSON_TYPE]: ['Errors', 'GraphQLAnswer'] },
  },
  406: error('The client accepts no form of the answer.'),
  500: {
    description: 'An error on the server; its log has the reason by `x-request-id`.',
    content: { [GRAPHQL_RESPONSE]: ['GraphQLAnswer'], [JSON_TYPE]: ['Errors', 'GraphQLAnswer'] },
  },
  503: {
    description: 'The database cannot be reached; try again later.',
    content: { [GRAPHQL_RESPONSE]: ['GraphQLAnswer'], [JSON_TYPE]: ['Errors', 'GraphQLAnswer'] },
    headers: ['retry-after'],
  },
}

const probe = (id: string, path: string): Endpoint => ({
  path,
  route: path,
  methods: {
    GET: {
      ...{ id, summary: 'Liveness: the process answers.', caller: 'ANYBODY' },
      answers: { 200: { description: 'It does.', content: text } },
    },
  },
  otherMethods: null,
})
const description = (path: string): Endpoint => ({
  path,
  route: path,
  methods: {
    GET: {
      ...{ id: path.slice(1).replace('.json', ''), caller: 'ANYBODY' },
      summary: 'A description of the API for programs, of the version that runs.',
      answers: {
        200: { description: 'The description.', content: json('Description') },
        404: { description: 'The server was built without it.', content: text },
      },
    },
  },
  otherMethods: ONLY_GET,
})

const ARTIFACT_ANSWERS: Readonly<Record<number, Answer>> = {
  ...WITH_SHARES,
  200: {
    description: 'The content of a file, or the compressed archive of a folder.',
    content: { [FILE_TYPE]: ['Bytes'], [FOLDER_TYPE]: ['Bytes'] },
    headers: ['content-disposition', 'repr-digest'],
  },
  404: error('There is none that the caller may read.'),
}
const WRITE_ANSWERS: Readonly<Record<number, Answer>> = {
  ...WITH_SHARES,
  201: { description: 'It is written, or was before.', content: json('WrittenArtifact') },
  400: error('The name or the content is wrong.'),
  403: error('The caller is no agent, or the Host header or the origin is refused.'),
  409: error('The fence is not the present one, or the workload or the project has no room.'),
  413: error('The content is too large.'),
  415: error('The content type is neither that of a file nor that of a folder.'),
}
/** The method of one of the two paths of artifacts is refused at the other one. */
const { 201: _written, ...WRITE_REFUSALS } = WRITE_ANSWERS
const { 200: _read, ...READ_REFUSALS } = ARTIFACT_ANSWERS
const ARTIFACT_ID = inPath('id', 'Id of the artifact, of `Artifact.id`.')

export const ENDPOINTS: readonly Endpoint[] = [
  {
    path: API_PATH,
    route: API_PATH,
    methods: {
      GET: {
        ...{ id: 'graphqlByGet', caller: 'TOKEN' },
        summary: `A query or subscription as ${EVENTS}, or a query by the hash of its document. A browser gets a page.`,
        parameters: [
          inQuery('query', 'The document.'),
          inQuery('documentId', 'The hash of a document that the server knows, as `sha256:…`.'),
          inQuery('operationName', 'Needed if the document has several operations.'),
          inQuery('variables', 'JSON of an object.'),
          inQuery('extensions', 'JSON of an object.'),
        ],
        answers: {
          ...GRAPHQL_ANSWERS,
          200: {
            ...(GRAPHQL_ANSWERS[200] as Answer),
            content: { ...GRAPHQL_ANSWERS[200]?.content, 'text/html': ['Text'] },
          },
          405: error('Mutations are posted, and so is a query that is no stream of events.', 'allow'),
        },
      },
      POST: {
        ...{ id: 'graphql', caller: 'TOKEN' },
        summary: 'Executes an operation of schema.graphql, as GraphQL over HTTP says.',
        body: { description: `At most ${MAX_BODY} bytes, not compressed.`, content: json('GraphQLRequest') },
        answers: {
          ...GRAPHQL_ANSWERS,
          413: error('The body is too large.'),
          415: error('The body is compressed, or is not JSON in UTF-8.', 'accept-post', 'accept-encoding'),
        },
      },
      OPTIONS: preflight('Graphql'),
    },
    otherMethods: OTHER_METHOD,
  },
  {
    path: LOG_PATH,
    route: LOG_PATH,
    methods: {
      GET: {
        ...{ id: 'log', caller: 'TOKEN', parametersOf: 'PhaseChangeFilter' },
        summary: 'A page of the log, one JSON object in each line. A browser gets a page of the dashboard.',
        parameters: [
          inQuery(
            'after',
            'A cursor or a sequence, to read on from; `head`: the end of the log. Left out: the oldest change that is kept.',
          ),
          inQuery('limit', 'The most lines of the page.', {
            ...{ type: 'integer', minimum: 1, maximum: LOG_BOUNDS.limit.most, default: LOG_BOUNDS.limit.unlessSaid },
          }),
          inQuery('wait', 'Seconds to wait for the first change if there is none yet.', {
            ...{ type: 'integer', minimum: 0, maximum: LOG_BOUNDS.wait, default: 0 },
          }),
          inHeader('if-none-match', 'The `etag` of the page that the caller has.'),
        ],
        answers: {
          ...WITH_SHARES,
          200: {
            description: 'The page, which may be short or empty and not the last: `link` leads to the next one.',
            content: { [NDJSON]: ['PhaseChangeLines'], 'text/html': ['Text'] },
            headers: ['link', 'etag', 'cache-control'],
          },
          304: { description: 'The page is as it was.', headers: ['link', 'etag', 'cache-control'] },
          400: error('A parameter is unknown, repeated or wrong.'),
          403: error('The caller may not read the log, or the Host header or the origin is refused.'),
          404: { description: 'A browser asks, and the dashboard is not built.', content: text },
          410: error('The cursor is not in the log, or not any more.'),
        },
      },
    },
    otherMethods: OTHER_METHOD,
  },
  {
    path: SEALS_PATH,
    route: SEALS_PATH,
    methods: {
      GET: {
        ...{ id: 'seals', caller: 'TOKEN' },
        summary: 'A page of the seals of the log, one JSON object in each line; empty where nothing is sealed.',
        parameters: [
          inQuery('after', 'The size of the last seal that the caller has.', {
            ...{ type: 'integer', minimum: 0, default: 0 },
          }),
          inQuery('limit', 'The most lines of the page.', {
            ...{ type: 'integer', minimum: 1, maximum: LOG_BOUNDS.limit.most, default: LOG_BOUNDS.limit.most },
          }),
          inHeader('if-none-match', 'The `etag` of the page that the caller has.'),
        ],
        answers: {
          ...WITH_SHARES,
          200: {
            description: 'The page, which is the last one if it is not full.',
            content: { [NDJSON]: ['SealLines'] },
            headers: ['etag', 'cache-control'],
          },
          304: { description: 'The page is as it was.', headers: ['etag', 'cache-control'] },
          400: error('A parameter is unknown or wrong.'),
          403: error('The caller may not read seals, or the Host header or the origin is refused.'),
        },
      },
    },
    otherMethods: OTHER_METHOD,
  },
  {
    path: `${HOOKS_PATH}{project}/{name}`,
    route: HOOKS_PATH,
    methods: {
      POST: {
        ...{ id: 'deliver', caller: 'SENDER' },
        summary: 'Delivers what has happened elsewhere to a hook, in the format of the hook.',
        parameters: [inPath('project', 'Name of the project.'), inPath('name', 'Name of the hook.')],
        body: {
          description: `At most ${MAX_HOOK_BODY} bytes within ${HOOK_BODY_MS / 1_000} seconds, not compressed.`,
          content: { '*/*': ['Bytes'] },
        },
        answers: {
          200: {
            description: 'No event had to be created: filtered, repeated or a ping.',
            content: json('Deliveries'),
          },
          202: { description: 'At least one event is created, and durable.', content: json('Deliveries') },
          401: error('There is no such hook, or the request is not authentic.'),
          403: {
            description: 'The last editor of the hook lacks the right, or the Host header is refused.',
            content: json('Deliveries', 'Errors'),
          },
          408: error('The body has not arrived in time.'),
          413: {
            description: 'The body, or the payload of its event, is too large.',
            content: json('Deliveries', 'Errors'),
          },
          415: error('The body is compressed.'),
          422: { description: 'No event can be made of it; `reason` says why.', content: json('Deliveries') },
          429: error('The sender, or the hook, has used up a share.', 'retry-after'),
          503: {
            description: 'It cannot be judged now; try again later.',
            content: json('Deliveries', 'Errors'),
            headers: ['retry-after'],
          },
        },
      },
      OPTIONS: {
        ...{ id: 'mayDeliver', caller: 'ANYBODY' },
        summary: 'The question of a sender of CloudEvents whether it may post.',
        parameters: [
          inPath('project', 'Name of the project.'),
          inPath('name', 'Name of the hook.'),
          inHeader('webhook-request-origin', 'The sender.'),
        ],
        answers: {
          200: { description: 'It may, if it has a secret.', headers: ['allow', 'webhook-allowed-origin'] },
          405: NOT_ALLOWED,
        },
      },
    },
    otherMethods: { ...OTHER_METHOD, 404: { description: 'A browser asks for a page.', content: text } },
  },
  {
    path: `${ARTIFACTS_PATH}{id}`,
    route: ARTIFACTS_PATH,
    methods: {
      GET: {
        ...{ id: 'readArtifact', caller: 'TOKEN', parameters: [ARTIFACT_ID], answers: ARTIFACT_ANSWERS },
        summary: 'The content of an artifact.',
      },
      HEAD: {
        ...{ id: 'describeArtifact', caller: 'TOKEN', parameters: [ARTIFACT_ID] },
        summary: 'The size, type and digest of an artifact.',
        answers: ARTIFACT_ANSWERS,
      },
      OPTIONS: { ...preflight('Artifact'), parameters: [ARTIFACT_ID] },
    },
    otherMethods: { ...WRITE_REFUSALS, 405: NOT_ALLOWED },
  },
  {
    path: `${ARTIFACTS_PATH}{objectId}/{artifactName}`,
    route: ARTIFACTS_PATH,
    methods: {
      PUT: {
        ...{ id: 'writeArtifact', caller: 'TOKEN' },
        summary: 'Writes an artifact of a workload, or an entry of the cache of its project.',
        parameters: [
          inPath('objectId', 'Id of the worker or job.'),
          inPath('artifactName', 'Name of the artifact, or the key of the entry.'),
          {
            ...inQuery('cache', 'Present, without a value: it is an entry of the cache.'),
            schema: { type: 'string', const: '' },
          },
          inHeader(FENCE_HEADER, 'The fence that came with the claimed work.', true),
        ],
        body: {
          description: `A file, or a compressed archive of a folder, of at most ${MAX_ARTIFACT_BYTES} bytes.`,
          content: { [FILE_TYPE]: ['Bytes'], [FOLDER_TYPE]: ['Bytes'] },
        },
        answers: WRITE_ANSWERS,
      },
      OPTIONS: {
        ...preflight('WriteArtifact'),
        parameters: [inPath('objectId', 'Id of the worker or job.'), inPath('artifactName', 'Name of the artifact.')],
      },
    },
    otherMethods: { ...READ_REFUSALS, 405: NOT_ALLOWED },
  },
  {
    path: SIGN_IN_PATH,
    route: SIGN_IN_PATH,
    methods: {
      POST: {
        ...{ id: 'signIn', caller: 'PAGE' },
        summary: 'Puts a token into the cookie of the browser, sealed with the key of the page.',
        body: {
          description: `At most ${SIGN_IN_BODY.bytes} bytes within ${SIGN_IN_BODY.withinMs / 1_000} seconds.`,
          content: json('SignIn'),
        },
        answers: {
          ...WITH_TOKEN,
          204: { description: 'The cookie is set.', headers: ['set-cookie'] },
          400: error('The body is not as it should be.'),
          403: error('The caller is no page of this server.'),
          408: error('The body has not arrived in time.'),
          413: error('The body is too large.'),
          415: error('The body is not JSON in UTF-8.', 'accept-post'),
        },
      },
      DELETE: {
        ...{ id: 'signOut', caller: 'PAGE' },
        summary: 'Ends the cookie.',
        answers: {
          204: { description: 'It is removed.', headers: ['set-cookie'] },
          403: error('The caller is no page of this server.'),
        },
      },
    },
    otherMethods: OTHER_METHOD,
  },
  {
    path: LOGINS_PATH,
    route: LOGINS_PATH,
    methods: {
      GET: {
        ...{ id: 'logins', caller: 'ANYBODY' },
        summary: 'The ways to sign in with OpenID Connect.',
        answers: { 200: { description: 'The ways; none: with tokens only.', content: json('Logins') } },
      },
    },
    otherMethods: ONLY_GET,
  },
  ...PROBE_PATHS.live.map((path) => probe(path.slice(1), path)),
  {
    path: PROBE_PATHS.ready,
    route: PROBE_PATHS.ready,
    methods: {
      GET: {
        ...{ id: 'readyz', caller: 'ANYBODY' },
        summary: `Readiness: the process should get requests. With accept: ${JSON_TYPE} each check is listed.`,
        answers: {
          200: { description: 'It is ready.', content: { ...text, ...json('Readiness') } },
          503: { description: 'It is not, and says why.', content: { ...text, ...json('Readiness') } },
        },
      },
    },
    otherMethods: null,
  },
  {
    path: METRICS_PATH,
    route: METRICS_PATH,
    methods: {
      GET: {
        ...{ id: 'metrics', caller: 'TOKEN' },
        summary: 'Metrics for Prometheus, of the whole process.',
        answers: {
          ...WITH_TOKEN,
          200: { description: 'The metrics.', content: text },
          403: error('The caller may not read metrics, or the Host header or the origin is refused.'),
          503: { ...UNAVAILABLE, content: { ...json('Errors'), ...text } },
        },
      },
    },
    otherMethods: null,
  },
  ...DESCRIPTION_PATHS.map(description),
]

/** The header `allow` of a route. A preflight is allowed everywhere. */
export const allowOf = (route: string): string =>
  [...new Set(ENDPOINTS.filter((each) => each.route === route).flatMap(({ methods }) => Object.keys(methods)))]
    .filter((method) => method !== 'OPTIONS')
    .join(', ')
