import type { HookFormat } from '../../core/hook.ts'
import type { LabelInput } from '../../core/labels.ts'
import { isPrivateUrl } from '../../core/loopback.ts'
import { isName, NAME_RULE, type Problems } from '../../core/problems.ts'
import { formatOf } from './formats.ts'
import type { HookSpec, Signature } from './spec.ts'

/** Converts API input about hooks. */

export interface HookInput {
  readonly format: HookFormat
  readonly description?: string | null
  readonly disabled?: boolean | null
  readonly secrets?: readonly HookSecretInput[] | null
  readonly filter?: string | null
  readonly projects?: readonly string[] | null
  readonly event?: EventTemplateInput | null
  readonly deliveryId?: string | null
  readonly signature?: SignatureInput | null
  readonly redelivery?: RedeliveryInput | null
}
interface RedeliveryInput {
  readonly address: string
  /** Null: it stays as it is. */
  readonly token?: string | null
}
export interface HookSecretInput {
  readonly name: string
  /** Null: it stays as it is. */
  readonly value?: string | null
}
interface EventTemplateInput {
  readonly project?: string | null
  readonly source?: string | null
  readonly type?: string | null
  readonly qualifiers?: readonly LabelInput[] | null
  readonly labels?: readonly LabelInput[] | null
  readonly payload?: string | null
}
type SignatureInput = Pick<Signature, 'header'> & {
  readonly [Field in 'algorithm' | 'encoding' | 'prefix']?: Signature[Field] | null
}

/** A name that HTTP allows. */
const HEADER = /^[!#$%&'*+.^_`|~\w-]+$/

/** @param isSecret the problem of a value for a format that has rules for it; null: it has none */
export function normaliseHook(
  { format, ...input }: HookInput,
  name: string,
  secretProblem: (value: string) => string | null,
  problems: Problems,
): HookSpec {
  const own = input.signature ?? null
  if (own && !formatOf(format, name).hasOwnSignature)
    problems.add('input.signature', `must be left out: ${format} has a signature of its own`)
  if (own && !HEADER.test(own.header)) problems.add('input.signature.header', 'must be the name of a header')
  checkSecrets(input.secrets ?? [], secretProblem, problems)
  const { project, source = null, type = null, qualifiers = null, labels = null, payload = null } = input.event ?? {}
  const projects = input.projects && input.projects.length > 0 ? [...new Set(input.projects)] : null
  // A sender chooses among these, and no others.
  if (project && !projects)
    problems.add('input.projects', 'is missing: it names the projects that event.project may choose')
  if (projects && !project) problems.add('input.event.project', 'is missing: it chooses one of the projects')
  if (input.deliveryId && format !== 'GENERIC')
    problems.add('input.deliveryId', `must be left out: ${format} has ids of its own`)
  const redelivery = input.redelivery ?? null
  if (redelivery) checkRedelivery(redelivery, format, problems)
  return {
    redelivery: redelivery && { address: redelivery.address.replace(/\/$/, '') },
    filter: input.filter ?? null,
    ...(projects && { projects }),
    event: { ...(project && { project }), source, type, qualifiers, labels, payload },
    deliveryId: input.deliveryId ?? null,
    signature: own && {
      header: own.header.toLowerCase(),
      algorithm: own.algorithm ?? 'SHA256',
      encoding: own.encoding ?? 'HEX',
      prefix: own.prefix ?? '',
    },
  }
}

/** A path of the API, so that the token goes to no other. */
const WEBHOOK = /^(\/api\/v3)?\/(repos\/[\w.-]+\/[\w.-]+|orgs\/[\w.-]+)\/hooks\/\d+\/?$/

function checkRedelivery({ address, token }: RedeliveryInput, format: HookFormat, problems: Problems): void {
  if (format !== 'GITHUB') problems.add('input.redelivery', 'must be left out: only GITHUB can be asked again')
  const url = URL.canParse(address) ? new URL(address) : null
  const isPlain = url && !url.search && !url.hash && !url.username && !url.password
  if (!isPlain || !isPrivateUrl(address) || !WEBHOOK.test(url.pathname))
    problems.add(
      'input.redelivery.address',
      'must be the address of the webhook in the API, such as https://api.github.com/repos/acme/shop/hooks/1',
    )
  if (typeof token === 'string' && (token === '' || /[^\x21-\x7e]/.test(token)))
    problems.add('input.redelivery.token', 'must be a token, on one line without blanks')
}

function checkSecrets(
  secrets: readonly HookSecretInput[],
  secretProblem: (value: string) => string | null,
  problems: Problems,
): void {
  const names = new Set<string>()
  for (const [i, { name, value }] of secrets.entries()) {
    const path = `input.secrets.${i}`
    if (!isName(name)) problems.add(`${path}.name`, NAME_RULE)
    if (names.has(name)) problems.add(`${path}.name`, 'stands more than once')
    names.add(name)
    const problem = value === null || value === undefined ? null : (plainProblem(value) ?? secretProblem(value))
    if (problem) problems.add(`${path}.value`, problem)
  }
}

/** One that is guessed lets anybody in. */
const MIN_SECRET = 16
function plainProblem(value: string): string | null {
  if (value.length < MIN_SECRET) return `must have at least ${MIN_SECRET} characters: it keeps others out`
  return /[\p{Cc}\u2028\u2029]/u.test(value) || value !== value.trim() || !value.isWellFormed()
    ? 'must be one line without blanks around it'
    : null
}
