import type { Rule } from './rules-store.ts'

/** e.g. `EVENT or TASK, FAILED, of roots`. */
export function selectionOf({
  changes: { projects, kinds, to, classes, reasons, rootsOnly, labels },
}: Pick<Rule, 'changes'>): string {
  const parts = [
    ...[kinds, classes, to, reasons].flatMap((words) => (words.length > 0 ? [words.join(' or ')] : [])),
    ...(rootsOnly ? ['of roots'] : []),
    ...labels.map(({ key, value }) => `${key}=${value}`),
  ]
  const of = projects.includes('*') ? ' of all projects' : projects.length > 0 ? ` of ${projects.join(' and ')}` : ''
  return `${parts.length > 0 ? parts.join(', ') : 'every change'}${of}`
}

export const receiverOf = ({ receiver: { url, secret, to } }: Pick<Rule, 'receiver'>): string =>
  url ?? secret ?? to.join(', ')
