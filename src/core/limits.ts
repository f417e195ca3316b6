/**
 * Bounds of everything that a caller can send. Each argument and each input field of the API that takes text, JSON or a list
 * names one of them. The check, the sentence in the schema and the table in docs/limits.md are made from this one.
 */

export interface Limit {
  /** Characters are UTF-16 code units; bytes are those of UTF-8; JSON is measured in characters of its text. */
  readonly unit: 'characters' | 'bytes' | 'json' | 'entries'
  readonly max: number
  /** For people: whose bound it is. */
  readonly what: string
  /** Bound of each entry of a list. */
  readonly of?: Limit
  /** A longer text is cut by whoever stores it, and not refused. */
  readonly isCut?: true
  /** In a text for people, whoever stores it replaces characters that cannot be stored. Any other text is refused for them. */
  readonly isMended?: true
}

const KIB = 1_024
const characters = (max: number, what: string): Limit => ({ unit: 'characters', max, what })
const bytes = (max: number, what: string): Limit => ({ unit: 'bytes', max, what })
/** Text for people, such as output. */
const prose = (max: number, what: string): Limit => ({ ...characters(max, what), isMended: true })
const json = (max: number, what: string): Limit => ({ unit: 'json', max, what })
const entries = (max: number, what: string, of?: Limit): Limit => ({ unit: 'entries', max, what, ...(of && { of }) })

const id = characters(64, 'an id')
const name = characters(63, 'a name that the caller gives, and one in `dependsOn`')
const labelKey = characters(253, 'the key of a label')
const reference = characters(255, 'the name of something that exists')
const workType = characters(128, 'a type of work, or a runtime')
const target = characters(255, 'a target')
const word = characters(255, 'the source or the type of an event')
const fence = characters(255, 'a fence')
const variable = characters(128, 'the name of a variable or a secret')
const cacheKey = characters(255, 'the key of a cache, or a prefix of it')
const argument = bytes(64 * KIB, 'a part of a command line, the value of a variable, or a secret')
const gadgetText = characters(32_768, 'an argument or a variable of a gadget, and `when`')

export const LIMITS = {
  id,
  name,
  reference,
  search: characters(255, 'a text to search for'),
  cursor: characters(4_096, 'a cursor'),
  idempotencyKey: characters(255, 'an idempotency key'),
  description: characters(1_024, 'the description of an installation or a target'),
  reason: characters(4_096, 'the reason of a cancellation, a pause or a hold'),
  cronLines: entries(5, 'lines of cron', characters(255, 'a line of cron')),
  labels: entries(64, 'labels or qualifiers'),
  labelKey,
  labelKeys: entries(64, 'keys of labels', labelKey),
  labelValue: characters(255, 'the value of a label'),
  reasons: entries(50, 'reasons of changes', word),
  choices: entries(200, 'kinds or phases to choose by'),
  ids: entries(500, 'ids that are read together', id),
  versions: entries(200, 'objects that must not have changed'),
  bulkIds: entries(10_000, 'objects that a bulk operation names', id),
  verb: characters(64, 'the name of a verb'),
  flags: entries(10, 'flags of a verb', characters(64, 'the name of a flag')),
  chosenProjects: entries(200, 'projects that a hook or a notification rule names', reference),
  path: entries(64, 'the path of an object', reference),
  tokenName: characters(100, 'the name of a principal or a token'),
  projects: entries(1_000, 'projects of a token', reference),
  grants: entries(3_000, 'grants of a principal'),
  json: json(1_024 * KIB, 'a spec, a config, data or exports'),
  schema: json(64 * KIB, 'a JSON Schema'),
  deployItems: entries(100_000, 'deploy items of a tree'),
  installations: entries(2_000, 'nested installations of a tree'),
  imports: entries(1_000, 'imports of an installation'),
  exports: entries(1_000, 'exports of an installation'),
  dependencies: entries(10_000, 'dependencies of a deploy item', name),
  jobs: entries(1_000, 'jobs of a task'),
  chosenJobs: entries(1_000, 'jobs of a task that run again', name),
  jobDependencies: entries(1_000, 'dependencies of a job', name),
  gadget: characters(128, 'the name of a gadget'),
  gadgetText,
  gadgetArgs: entries(256, 'arguments of a gadget', gadgetText),
  gadgetEnv: entries(64, 'variables of a gadget'),
  word,
  payload: bytes(512 * KIB, 'the payload of an event'),
  eventText: characters(4_096, 'a text of a hook that becomes a part of an event, or an expression of a hook'),
  payloadTemplate: characters(16 * KIB, 'the payload of a hook, as a template'),
  hookSecrets: entries(8, 'secrets of a hook'),
  hookSecret: characters(1_024, 'a secret of a hook'),
  header: characters(128, 'the name of a header, or what stands before a signature in it'),
  subscriptions: entries(64, 'subscriptions of a project'),
  eventTypes: entries(64, 'types of a subscription', word),
  variable,
  env: entries(256, 'variables of a workload'),
  argument,
  argv: entries(1_024, 'parts of a command line', argument),
  image: characters(512, 'an image'),
  files: entries(64, 'files of a workload'),
  filePath: bytes(KIB, 'the path of a file'),
  fileContent: bytes(512 * KIB, 'the content of a file'),
  artifacts: entries(16, 'artifacts that a workload leaves, or takes'),
  artifactName: characters(63, 'the name of an artifact'),
  repository: characters(2_048, 'the address of a repository'),
  ref: characters(1_024, 'a branch, tag or commit, or an expression that yields one'),
  services: entries(8, 'services of a workload'),
  serviceName: characters(40, 'the name of a service'),
  serviceSecrets: entries(64, 'secrets of a service', variable),
  servicePorts: entries(8, 'ports of a service'),
  limitRequests: entries(4, 'limits that an object asks for'),
  limitKey: characters(255, 'the key of a limit'),
  limitWeights: entries(100, 'weights of keys of a limit'),
  sameValues: entries(50, 'imports whose values an invariant compares', characters(63, 'the name of an import')),
  caches: entries(8, 'caches of a workload'),
  cacheKey,
  restoreKeys: entries(8, 'prefixes of the key of a cache', cacheKey),
  instance: characters(253, 'the name of a process'),
  workType,
  workTypes: entries(100, 'types of work', workType),
  target,
  targets: entries(500, 'targets', target),
  credentials: bytes(256 * KIB, 'the credentials of a target'),
  fence,
  fences: entries(5_000, 'leases that are renewed together', fence),
  reports: entries(500, 'reports that are sent together'),
  step: prose(4_096, 'a step of progress'),
  progressUnit: prose(64, 'a unit of progress'),
  message: prose(16_384, 'the message of a report or of its error'),
  errorCode: prose(255, 'the code of an error'),
  retryCodes: entries(64, 'codes of errors that a retry policy names', characters(255, 'the code of an error')),
  locks: entries(10_000, 'locks that a gadget declares, of which a job may have 1,000'),
  lock: characters(4_096, 'the resource of a lock that a gadget declares, of which a job may have 256'),
  resource: characters(256, 'the name of a resource'),
  traceparent: characters(128, 'a place in a trace'),
  logLines: entries(5_000, 'log lines that are sent together'),
  logLine: { ...prose(8_192, 'a log line'), isCut: true },
  version: characters(64, 'the version of a CRM'),
  plannedChanges: entries(1_000, 'objects at a target that a dry run of a deploy item names'),
  plannedFields: entries(200, 'fields of an object that a dry run names'),
  plannedName: characters(512, 'the group, kind, namespace or name of an object of a dry run, and the path of a field'),
  plannedValue: json(4 * KIB, 'the value of a field in a dry run'),
  plannedReason: prose(1_024, 'why a dry run leaves something out, or changes it'),
  plannedDiff: prose(128 * KIB, 'the diff of an object in a dry run'),
  quietRanges: entries(20, 'ranges of quiet hours'),
  weekdays: entries(7, 'days of a range'),
  timeOfDay: characters(5, 'a time of day'),
  recipients: entries(20, 'addresses of an e-mail', characters(320, 'an address of e-mail')),
  url: characters(2_048, 'a URL'),
  notificationText: characters(4_096, 'the text of a notification'),
  crmObjects: entries(20_000, 'instances that a CRM has'),
} as const satisfies Readonly<Record<string, Limit>>

export type LimitName = keyof typeof LIMITS

/** Nesting of installations, with their root. */
export const MAX_INSTALLATION_DEPTH = 16

/** Nesting of arrays and objects in JSON. */
const MAX_JSON_DEPTH = 64

/** For `jsonProblem`. */
export const jsonBounds = ({ max }: Limit): { readonly depth: number; readonly size: number } => ({
  depth: MAX_JSON_DEPTH,
  size: max,
})

const plain = (count: number): string => count.toLocaleString('en')
const inBytes = (count: number): string =>
  count % KIB !== 0 ? `${plain(count)} bytes` : count < KIB * KIB ? `${count / KIB} KiB` : `${count / KIB / KIB} MiB`

/** `100 characters`, `64 KiB`, `5,000 entries`. */
export function amountOf({ unit, max }: Limit): string {
  if (unit === 'characters') return `${plain(max)} characters`
  return unit === 'entries' ? `${plain(max)} entries` : inBytes(max)
}

/** A sentence for people who write a request. */
export function sentenceOf(limit: Limit): string {
  const amount = amountOf(limit)
  const mended = limit.isMended ? ' Characters that cannot be stored become U+FFFD.' : ''
  if (limit.isCut) return `Its first ${amount} are kept.${mended}`
  if (limit.unit === 'json') return `At most ${amount} as JSON, nested at most ${MAX_JSON_DEPTH} deep.`
  return limit.of ? `At most ${amount}, each of at most ${amountOf(limit.of)}.` : `At most ${amount}.${mended}`
}
