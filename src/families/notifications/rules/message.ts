import { objectPage } from '../../../core/object-page.ts'
import { beginningOf } from '../../../core/portable.ts'
import { words } from '../../../core/words.ts'
import type { Digest } from './collect.ts'
import type { Channel, Told, ToldChange } from './spec.ts'

export interface MessageFacts {
  readonly id: string
  readonly rule: string
  readonly project: string
  readonly told: Told
  /** Sent again by hand, or after later ones of its object. */
  readonly isLate: boolean
  /** The text of the rule, evaluated; null: the default one. */
  readonly text: string | null
  /** Origin of the dashboard; null: messages have no links. */
  readonly dashboard: string | null
}

/** Longest text of a chat message or the subject of an e-mail, in characters. */
const MAX_TEXT = 3_000
const MAX_SUBJECT = 200

const TYPES = {
  CHANGE: 'object.phase_changed',
  DIGEST: 'notification.digest',
  TEST: 'notification.test',
  GAP: 'notification.gap',
} as const

/** The scope of expressions in a rule's text. A field that a change does not have is empty there, since people read the text. */
export const scopeOf = ({ rule, project }: Pick<MessageFacts, 'rule' | 'project'>, change: ToldChange) => ({
  rule: { name: rule, project },
  change: {
    ...{ ...change, path: pathOf(change), project: change.projectName },
    ...{ from: change.from ?? '', by: change.by ?? '', reason: change.reason ?? '', message: change.message ?? '' },
  },
})

/** That of the change; a message about nothing has the rule's. */
const projectOf = ({ told, project }: MessageFacts): string =>
  (told.type === 'CHANGE' ? told.change.projectName : null) ?? project

const pathOf = ({ parentPath, name }: ToldChange): string => (parentPath ? `${parentPath}/${name}` : name)

/** @param rule null: the reader knows which rule it is */
export function defaultText({ rule, told }: { readonly rule: string | null; readonly told: Told }): string {
  const named = rule === null ? 'this rule' : `the rule ${rule}`
  if (told.type === 'TEST') return `${told.by} tries ${named}. It works.`
  if (told.type === 'GAP')
    return `The changes ${told.after + 1} to ${told.upTo} were pruned before ${named} could tell them.`
  if (told.type === 'DIGEST') return digestText(told, told.changes.map(textOf))
  return textOf(told.change)
}

const textOf = (change: ToldChange): string =>
  `${noun(change)} ${[change.projectName, pathOf(change)].filter(Boolean).join('/')} is ${change.to}${change.message ? `: ${change.message}` : ''}`

/** The changes of a digest, each on a line. */
export function digestText({ changes, count }: Digest, lines: readonly string[]): string {
  const omitted = count - changes.length
  const rest = omitted > 0 ? [`and ${omitted} more, which the log has`] : []
  return [`${count} ${count === 1 ? 'change' : 'changes'}:`, ...lines, ...rest].join('\n')
}

const noun = ({ kind }: ToldChange): string => {
  const name = words(kind)
  return name.charAt(0).toUpperCase() + name.slice(1)
}

const linkOf = ({ told, dashboard }: MessageFacts): string | null =>
  told.type === 'CHANGE' && dashboard !== null
    ? `${dashboard}${objectPage({ id: told.change.objectId, rootId: told.change.rootId })}`
    : null

const shorten = (text: string, max: number): string => (text.length > max ? `${beginningOf(text, max - 1)}…` : text)

const shownChange = ({ projectName, ...change }: ToldChange) => ({
  ...{ ...change, path: pathOf({ projectName, ...change }), project: projectName },
})

const dataOf = (facts: MessageFacts) => {
  const { told, rule, project, isLate } = facts
  const own = { rule, project, late: isLate, text: facts.text ?? defaultText(facts) }
  if (told.type === 'TEST') return { ...own, by: told.by }
  if (told.type === 'GAP') return { ...own, after: told.after, upTo: told.upTo }
  if (told.type === 'DIGEST')
    return { ...own, changes: told.changes.map(shownChange), omitted: told.count - told.changes.length }
  return { ...own, change: shownChange(told.change), url: linkOf(facts) }
}

export interface Body {
  readonly contentType: string
  readonly text: string
}

/** The body of a message over HTTP; the same for each attempt, apart from its time. */
export function bodyOf(channel: Exclude<Channel, 'EMAIL'>, facts: MessageFacts, now: Date): Body {
  const { told } = facts
  const type = TYPES[told.type]
  const time = told.type === 'CHANGE' ? told.change.at : now.toISOString()
  if (channel === 'SLACK') {
    const link = linkOf(facts)
    const said = shorten(escapeSlack(facts.text ?? defaultText(facts)), MAX_TEXT)
    return { contentType: 'application/json', text: JSON.stringify({ text: link ? `${said}\n<${link}>` : said }) }
  }
  if (channel === 'WEBHOOK')
    return { contentType: 'application/json', text: JSON.stringify({ type, timestamp: time, data: dataOf(facts) }) }
  const event = {
    ...{
      specversion: '1.0',
      id: facts.id,
      source: `/projects/${projectOf(facts)}`,
      type: `dev.phaseline.${type}`,
      time,
    },
    ...(told.type === 'CHANGE' && { subject: told.change.objectId }),
    ...{ datacontenttype: 'application/json', data: dataOf(facts) },
  }
  return { contentType: 'application/cloudevents+json', text: JSON.stringify(event) }
}

/** Slack reads these three characters as markup. */
const escapeSlack = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

export function mailOf(facts: MessageFacts): { readonly subject: string; readonly text: string } {
  const said = facts.text ?? defaultText(facts)
  const [first = ''] = said.split('\n')
  const link = linkOf(facts)
  return { subject: shorten(`[Phaseline] ${first}`, MAX_SUBJECT), text: link ? `${said}\n\n${link}\n` : `${said}\n` }
}
