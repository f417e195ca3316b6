import {
  type Limits,
  projectSpecOf,
  type Service,
  type Subscription,
  type WorkerTemplate,
} from '../../manifest/index.ts'
import { describeFields, type Field } from '../objects/fields.ts'
import type { Paint } from '../terminal/paint.ts'
import { duration, shorten, words } from '../terminal/text.ts'
import type { ShownProject } from './api.ts'

const COMMAND_SHOWN = 100

/** For people: one line for each field with a value. */
export function describeProject(project: ShownProject, now: number, paint: Paint): string[] {
  const { workerTemplate, subscriptions, limits, promotesTo } = projectSpecOf(project)
  const ago = (time: string): string => `${time} (${duration(Math.max(0, now - Date.parse(time)))} ago)`
  const fields: readonly Field[] = [
    ['name', paint('bold', project.name)],
    ['id', project.id],
    ...(workerTemplate ? describeTemplate(workerTemplate) : [['worker', 'none: it takes no events'] as const]),
    ...subscriptions.map((subscription) => ['subscribed', describeSubscription(subscription)] as const),
    ['limits', describeLimits(limits)],
    ['promotes to', promotesTo],
    ['secrets', project.secrets.map(({ name }) => name).join(', ')],
    ['created', ago(project.createdAt)],
    ['updated', ago(project.updatedAt)],
  ]
  return describeFields(fields, paint)
}

function describeTemplate(template: WorkerTemplate): readonly Field[] {
  const { runtime, image, env, files, timeoutMs, retry, workspace, targetLabels, artifacts, caches, clone, services } =
    template
  return [
    ['worker', describeCommand(template)],
    ['runtime', runtime],
    ['image', image],
    ['clone', clone && [clone.url, clone.ref].filter(Boolean).join(' at ')],
    ['env', Object.keys(env).join(', ')],
    ['files', files.map(({ path }) => path).join(', ')],
    ['timeout', timeoutMs === null ? null : duration(timeoutMs)],
    ['attempts', retry && String(retry.attempts)],
    ['workspace', workspace ? 'yes' : null],
    [
      'labels',
      Object.entries(targetLabels)
        .map(([key, value]) => `${key}=${value}`)
        .join(', '),
    ],
    ['services', describeServices(services)],
    ['caches', caches.map(({ key, path }) => `${key} (${path})`).join(', ')],
    ['artifacts', artifacts.map(({ name, path }) => `${name} (${path})`).join(', ')],
  ]
}

/** e.g. `db (postgres:17), cache (redis:7)`. */
export const describeServices = (services: readonly Pick<Service, 'name' | 'image' | 'command' | 'args'>[]): string =>
  services.map((service) => `${service.name} (${service.image ?? describeCommand(service)})`).join(', ')

/** The program with its arguments, as far as they fit in a line. */
export const describeCommand = ({ command, args, image }: Pick<WorkerTemplate, 'command' | 'args' | 'image'>): string =>
  shorten([...command, ...args].map(quoted).join(' '), COMMAND_SHOWN) || (image ?? '')

const quoted = (part: string): string => (/^[\w@%+=:,./-]+$/.test(part) ? part : JSON.stringify(part))

function describeSubscription({ source, types, qualifiers, labels, task }: Subscription): string {
  const pairs = (name: string, map: Readonly<Record<string, string>>): string[] => {
    const shown = Object.entries(map).map(([key, value]) => `${key}=${value}`)
    return shown.length > 0 ? [`${name} ${shown.join(', ')}`] : []
  }
  const parts = [
    `${source} ${types.join(', ')}`,
    ...pairs('qualified', qualifiers),
    ...pairs('labelled', labels),
    ...(task ? [`makes a task of ${task.map(({ name }) => name).join(', ')}`] : []),
  ]
  return parts.join('; ')
}

/** e.g. `4 workers, 8 jobs, latest only`; empty without limits. */
export function describeLimits({ maxWorkers, maxJobs, strategy }: Limits): string {
  return [
    ...(maxWorkers === null ? [] : [`${maxWorkers} ${maxWorkers === 1 ? 'worker' : 'workers'}`]),
    ...(maxJobs === null ? [] : [`${maxJobs} ${maxJobs === 1 ? 'job' : 'jobs'}`]),
    ...(strategy === 'QUEUE' ? [] : [words(strategy)]),
  ].join(', ')
}
