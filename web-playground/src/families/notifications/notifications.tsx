import { Link } from 'wouter'
import { plural } from '../../model/words.ts'
import { treeHref } from '../../ui/links.ts'
import { Since } from '../../ui/phase.tsx'
import { useLive } from '../../ui/session-context.ts'
import { DeleteButton, ThingsCard } from '../../ui/things-card.tsx'
import { useAct } from '../../ui/use-act.ts'
import type { Removal } from '../../ui/use-removal.tsx'
import { CreateRule } from './create-rule.tsx'
import { receiverOf, selectionOf } from './describe-rule.ts'
import { type Message, type Rule, rulesOf } from './rules-store.ts'

interface Props {
  readonly project: string
  readonly mayWrite: boolean
}

/** The notification rules of a project with their messages, and a form to create one. */
export default function Notifications({ project, mayWrite }: Props) {
  const store = useLive(project, (session, signal) => rulesOf(session, project, signal))
  const refresh = () => store?.refresh()
  const acting = useAct(refresh)
  if (!store?.answer) return null
  const { rules, totalCount } = store.answer
  const send = ({ id }: Rule): void => {
    const done = 'A message that tells nothing is sent: its state is above.'
    void acting.ask({ field: 'testNotificationRule', input: 'TestNotificationRuleInput', done, variables: { id } })
  }
  const replay = ({ id }: Message): void => {
    const done = 'The message is sent again: its state is above.'
    void acting.ask({ field: 'replayNotification', input: 'ReplayNotificationInput', done, variables: { id } })
  }
  return (
    <ThingsCard
      id="notifications"
      title="Notifications"
      about="Rules tell phase changes to webhooks, chats and people: at least once, in order."
      things={rules}
      row={(rule, onDelete) => (
        <Row key={rule.id} rule={rule} onDelete={onDelete} onTest={() => send(rule)} onReplay={onDelete && replay} />
      )}
      total={totalCount}
      mayWrite={mayWrite}
      deletion={{ field: 'deleteNotificationRule', of: removalOf }}
      acting={acting}
      form={<CreateRule project={project} onDone={refresh} />}
    />
  )
}

const removalOf = ({ id, name }: Rule): Removal => ({
  name,
  text: `Delete the rule ${name} with its messages, also those that are not sent yet.`,
  variables: { id },
})

interface RowProps {
  readonly rule: Rule
  readonly onDelete: (() => void) | null
  readonly onTest: () => void
  readonly onReplay: ((message: Message) => void) | null
}
function Row({ rule, onDelete, onTest, onReplay }: RowProps) {
  const { name, description, enabled, mayRead, pendingCount, editor, receiver, notifications } = rule
  const shown = notifications.edges.map(({ node }) => node)
  const failing = shown.find(({ state, problem }) => state !== 'DELIVERED' && problem !== null)
  return (
    <li>
      <span className="thing-name">
        <b>{name}</b> <code>{receiver.channel}</code> {!enabled && <b className="problem">disabled</b>}
      </span>
      <span className="thing-end quiet">
        {pendingCount > 0 ? `${pendingCount} waiting ` : 'none waiting '}
        {onDelete && (
          <button type="button" aria-label={`Try ${name}`} disabled={!enabled} onClick={onTest}>
            Try
          </button>
        )}{' '}
        <DeleteButton name={name} onDelete={onDelete} />
      </span>
      <span className="thing-why">
        {description && `${description}; `}
        tells {selectionOf(rule)} to <code>{receiverOf(rule)}</code>, with the rights of {editor}
      </span>
      {waiting(rule) && <span className="thing-why">{waiting(rule)}</span>}
      {!mayRead && (
        <span className="thing-why problem">{editor} has lost the right to edit rules here: it tells nothing.</span>
      )}
      {failing && <span className="thing-why problem">{failing.problem}</span>}
      {shown.length > 0 && (
        <details className="thing-why">
          <summary>{plural(notifications.totalCount ?? shown.length, 'message')}</summary>
          <ul className="things" aria-label={`Messages of ${name}`}>
            {shown.map((message) => (
              <MessageRow key={message.id} message={message} onReplay={onReplay} />
            ))}
          </ul>
        </details>
      )}
    </li>
  )
}

/** e.g. `one message for 300 s of changes; quiet from 22:00 to 07:00 (Europe/Berlin), but for FAILED`. */
function waiting({ digest, quietHours, urgent }: Rule): string {
  const ranges = quietHours?.ranges.map(({ days, from, to }) => `${days.join(' ')} from ${from} to ${to}`.trim()) ?? []
  const parts = [
    ...(digest ? [`one message for ${digest.windowMs / 1_000} s of changes`] : []),
    ...(quietHours ? [`quiet ${ranges.join(' and ')} (${quietHours.timeZone})`] : []),
  ]
  return [parts.join('; '), ...(urgent.length > 0 ? [`but for ${urgent.join(' and ')}`] : [])].join(', ')
}

interface MessageProps {
  readonly message: Message
  readonly onReplay: ((message: Message) => void) | null
}
function MessageRow({ message, onReplay }: MessageProps) {
  const { text, state, attempts, problem, createdAt, object } = message
  return (
    <li>
      <span className="thing-name">{object ? <Link href={treeHref(object.root.id)}>{text}</Link> : text}</span>
      <span className="thing-end quiet">
        {state} <Since at={createdAt} /> ago{' '}
        {onReplay && state !== 'PENDING' && (
          <button type="button" aria-label={`Send again: ${text}`} onClick={() => onReplay(message)}>
            Send again
          </button>
        )}
      </span>
      {problem !== null && (
        <span className="thing-why">
          {plural(attempts, 'attempt')}: {problem}
        </span>
      )}
    </li>
  )
}
