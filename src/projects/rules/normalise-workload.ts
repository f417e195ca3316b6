import { hasExpressions, parseText, unreadable } from '../../core/expression.ts'
import { type LabelInput, labelsOf } from '../../core/labels.ts'
import type { LimitRequest } from '../../core/limit-request.ts'
import { LIMITS } from '../../core/limits.ts'
import type { Labels } from '../../core/place.ts'
import type { Problems } from '../../core/problems.ts'
import { refProblem, repositoryProblem } from '../../core/repository.ts'
import { type LimitRequestInput, normaliseLimits } from '../../families/limit-requests.ts'
import { normaliseRetry, type RetryPolicyInput } from '../../families/retry-policy.ts'
import { startGateOf } from '../../families/start-gate.ts'
import {
  checkArtifactName,
  checkFilePath,
  checkName,
  checkRuntime,
  checkText,
  checkVariable,
  checkWord,
} from './names.ts'
import { normaliseServices, type ServiceInput } from './normalise-services.ts'
import { checkArgv, checkProgram, type EnvInput, envOf, sumOfBytes } from './program.ts'
import type { ArtifactSpec, CacheSpec, CloneSpec, FileSpec, TakeSpec, WorkloadSpec } from './spec.ts'

/** Converts API input to the spec of a workload: fills in defaults and reports problems by their path. */

/** The input from GraphQL, which has checked the types and the bounds. */
export interface WorkloadInput {
  readonly runtime?: string | null
  readonly image?: string | null
  readonly command?: readonly string[] | null
  readonly args?: readonly string[] | null
  readonly env?: EnvInput | null
  readonly files?: readonly FileInput[] | null
  readonly timeoutMs?: number | null
  readonly retry?: RetryPolicyInput | null
  readonly workspace?: boolean | null
  readonly targetLabels?: readonly LabelInput[] | null
  readonly limits?: readonly LimitRequestInput[] | null
  /** As JSON, which is judged here. */
  readonly gate?: unknown
  readonly artifacts?: readonly ArtifactSpec[] | null
  readonly takes?: readonly TakeInput[] | null
  readonly clone?: CloneInput | null
  readonly caches?: readonly CacheInput[] | null
  readonly services?: readonly ServiceInput[] | null
}
interface CacheInput extends Omit<CacheSpec, 'restoreKeys'> {
  readonly restoreKeys?: readonly string[] | null
}
interface TakeInput {
  readonly artifact: string
  readonly from?: string | null
  readonly path?: string | null
}
interface FileInput {
  readonly path: string
  readonly content?: string | null
  readonly secret?: string | null
}
interface CloneInput {
  readonly url: string
  readonly ref?: string | null
  readonly depth?: number | null
  readonly path?: string | null
  readonly secret?: string | null
}

const MAX_MS = 2 ** 31 - 1

interface Defaults {
  /** For a job, the runtime of its worker. */
  readonly runtime: string
  /** For a job at that runtime, the labels of its worker. */
  readonly targetLabels?: Labels | undefined
}

export function normaliseWorkload(
  input: WorkloadInput,
  path: string,
  problems: Problems,
  defaults: Defaults,
): WorkloadSpec {
  const runtime = input.runtime ?? defaults.runtime
  const targetLabels = input.targetLabels
    ? labelsOf(input.targetLabels, problems, `${path}.targetLabels`)
    : runtime === defaults.runtime
      ? (defaults.targetLabels ?? {})
      : {}
  const spec: WorkloadSpec = {
    runtime,
    image: input.image ?? null,
    command: input.command ?? [],
    args: input.args ?? [],
    env: envOf(input.env ?? [], `${path}.env`, problems),
    files: filesOf(input.files ?? [], `${path}.files`, problems),
    timeoutMs: input.timeoutMs ?? null,
    ...(input.retry && { retry: normaliseRetry(input.retry, `${path}.retry`, problems) }),
    workspace: input.workspace ?? false,
    // Absent in specs of before there were labels, with which new ones are compared.
    ...(Object.keys(targetLabels).length > 0 && { targetLabels }),
    ...some({ limits: limitsOf(input.limits ?? [], `${path}.limits`, problems) }),
    ...((input.gate ?? null) !== null && { gate: startGateOf(input.gate, `${path}.gate`, problems) }),
    ...some({ artifacts: artifactsOf(input.artifacts ?? [], `${path}.artifacts`, problems) }),
    ...some({ takes: takesOf(input.takes ?? [], `${path}.takes`, problems) }),
    ...(input.clone && { clone: cloneOf(input.clone, `${path}.clone`, problems) }),
    ...some({ caches: cachesOf(input.caches ?? [], `${path}.caches`, problems) }),
    ...some({ services: normaliseServices(input.services ?? [], runtime, `${path}.services`, problems) }),
  }
  checkRuntime(spec.runtime, `${path}.runtime`, problems)
  checkProgram(spec, spec.runtime, path, problems)
  checkArgv(spec, path, problems)
  const { timeoutMs } = spec
  if (timeoutMs !== null && !(Number.isInteger(timeoutMs) && timeoutMs >= 1 && timeoutMs <= MAX_MS))
    problems.add(`${path}.timeoutMs`, `must be between 1 and ${MAX_MS} milliseconds`)
  return spec
}

/** The results of expressions are judged when the workload asks for its limits. */
function limitsOf(input: readonly LimitRequestInput[], path: string, problems: Problems): readonly LimitRequest[] {
  const limits = normaliseLimits(input, path, problems)
  for (const [i, { key }] of limits.entries()) {
    const parsed = parseText(key)
    if (!parsed.ok) problems.add(`${path}.${i}.key`, unreadable({}, parsed.message))
  }
  return limits
}

function cloneOf(input: CloneInput, path: string, problems: Problems): CloneSpec {
  const { url, ref = null, depth, path: folder = null, secret = null } = input
  const check = (field: string, problem: string | null): void => {
    if (problem) problems.add(`${path}.${field}`, problem)
  }
  check('url', repositoryProblem(url))
  if (ref !== null) check('ref', refTextProblem(ref))
  if (depth != null && !(depth >= 0 && depth <= MAX_MS)) check('depth', 'must be 1 or more, or 0 for the whole history')
  if (folder !== null) checkFilePath(folder, `${path}.path`, problems)
  if (secret !== null) checkVariable(secret, `${path}.secret`, problems)
  return { url, ref, depth: depth ?? 1, path: folder, secret }
}

/** The result of an expression is judged when the workload starts. */
function refTextProblem(ref: string): string | null {
  const parsed = parseText(ref)
  if (!parsed.ok) return unreadable({}, parsed.message)
  return hasExpressions(ref) ? null : refProblem(ref)
}

function filesOf(files: readonly FileInput[], path: string, problems: Problems): readonly FileSpec[] {
  const taken = new Set<string>()
  const folders = new Set<string>()
  for (const [i, file] of files.entries()) {
    checkFilePath(file.path, `${path}.${i}.path`, problems)
    checkText(file.content ?? '', `${path}.${i}.content`, problems)
    if (file.secret != null) checkVariable(file.secret, `${path}.${i}.secret`, problems)
    if ((file.secret ?? null) === null ? file.content == null : file.content != null)
      problems.add(`${path}.${i}`, 'must have either content or secret')
    const above = foldersOf(file.path)
    if (taken.has(file.path)) problems.add(`${path}.${i}.path`, 'occurs twice')
    else if (folders.has(file.path) || above.some((folder) => taken.has(folder)))
      problems.add(`${path}.${i}.path`, 'a file and a folder have the same path')
    taken.add(file.path)
    for (const folder of above) folders.add(folder)
  }
  if (sumOfBytes(files.map(({ content }) => content ?? '')) > LIMITS.fileContent.max)
    problems.add(path, `must not have more than ${LIMITS.fileContent.max} bytes altogether`)
  return files.map(({ path, content, secret }) => ({
    path,
    content: content ?? '',
    ...(secret != null && { secret }),
  }))
}

/** Absent if it is empty: specs of before there were artifacts have none, and are compared with new ones. */
const some = <T extends Readonly<Record<string, readonly unknown[]>>>(lists: T): Partial<T> =>
  Object.values(lists).some(({ length }) => length > 0) ? lists : {}

function artifactsOf(artifacts: readonly ArtifactSpec[], path: string, problems: Problems): readonly ArtifactSpec[] {
  const names = new Set<string>()
  for (const [i, artifact] of artifacts.entries()) {
    checkArtifactName(artifact.name, `${path}.${i}.name`, problems)
    checkFilePath(artifact.path, `${path}.${i}.path`, problems)
    if (names.has(artifact.name)) problems.add(`${path}.${i}.name`, 'occurs twice')
    names.add(artifact.name)
  }
  return artifacts.map(({ name, path: at, when, optional }) => ({ name, path: at, when, optional }))
}

function takesOf(input: readonly TakeInput[], path: string, problems: Problems): readonly TakeSpec[] {
  const takes = input.map(({ artifact, from = null, path: at }) => ({ artifact, from, path: at ?? artifact }))
  const paths = new Set<string>()
  for (const [i, take] of takes.entries()) {
    checkArtifactName(take.artifact, `${path}.${i}.artifact`, problems)
    if (take.from !== null) checkName(take.from, `${path}.${i}.from`, problems)
    checkFilePath(take.path, `${path}.${i}.path`, problems)
    if (paths.has(take.path)) problems.add(`${path}.${i}.path`, 'occurs twice')
    paths.add(take.path)
  }
  return takes
}

function cachesOf(input: readonly CacheInput[], path: string, problems: Problems): readonly CacheSpec[] {
  const [keys, paths] = [new Set<string>(), new Set<string>()]
  const caches = input.map(({ key, restoreKeys, path: at }) => ({ key, restoreKeys: restoreKeys ?? [], path: at }))
  for (const [i, { key, restoreKeys, path: at }] of caches.entries()) {
    checkWord(key, `${path}.${i}.key`, problems)
    for (const [n, prefix] of restoreKeys.entries()) checkWord(prefix, `${path}.${i}.restoreKeys.${n}`, problems)
    checkFilePath(at, `${path}.${i}.path`, problems)
    if (keys.has(key)) problems.add(`${path}.${i}.key`, 'occurs twice')
    if (paths.has(at)) problems.add(`${path}.${i}.path`, 'occurs twice')
    keys.add(key)
    paths.add(at)
  }
  return caches
}

/** The folders of a path: for `a/b/c`, `a` and `a/b`. */
const foldersOf = (path: string): readonly string[] => {
  const parts = path.split('/').slice(0, -1)
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'))
}
