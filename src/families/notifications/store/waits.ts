import type { Client } from '../../../store/client.ts'
import { array, json, jsonb, nullable, timestamptz, uuid } from '../../../store/column-types.ts'
import { statement } from '../../../store/statement.ts'
import type { Digest } from '../rules/collect.ts'

/** Messages that wait for their time, and digests that are open. */

/** The time before which a message that something urgent takes along is not sent: none is. */
export const URGED = `'-infinity'::timestamptz`
const URGE = statement({
  name: 'urge-notifications',
  text: `update notification set not_before = ${URGED}, due = case when due is not null and not_before > $3 then $3::timestamptz else due end
    where (rule_id, subject_id) in (select * from unnest($1::uuid[], $2::uuid[])) and state = 'PENDING'`,
  params: [array(uuid), array(uuid), timestamptz],
})
/** Messages of these subjects wait for no time any more, in their order. The rules are locked. */
export async function urgeMessages(
  client: Client,
  subjects: readonly { readonly ruleId: string; readonly subjectId: string }[],
  now: Date,
): Promise<void> {
  if (subjects.length === 0) return
  const [rules, ids] = [subjects.map(({ ruleId }) => ruleId), subjects.map(({ subjectId }) => subjectId)]
  await URGE.query(client, [rules, ids, now])
}

const HOLD = statement({
  name: 'hold-notifications',
  text: `update notification set not_before = $3, due = case when due is not null then coalesce($3, $2) end
    where rule_id = $1 and state = 'PENDING' and not_before > $2`,
  params: [uuid, timestamptz, nullable(timestamptz)],
})
/** Messages that wait for their time wait for another one; null: for none. The rule is locked. */
export async function holdMessages(client: Client, rule: string, now: Date, until: Date | null): Promise<void> {
  await HOLD.query(client, [rule, now, until])
}

const OPEN = statement({
  name: 'open-digests',
  text: `select n.id, n.rule_id as "ruleId", n.told from notification n
    where n.rule_id = any($1::uuid[]) and n.subject_id = n.rule_id and n.state = 'PENDING' and n.attempts = 0
      and not n.is_late and (n.due is null or n.not_before > $2) order by n.seq for no key update skip locked`,
  params: [array(uuid), timestamptz],
  row: { id: uuid, ruleId: uuid, told: json<Digest>() },
})
/** The last digest of each rule that may get more: its time has not come, or an earlier one is not sent. The rules are locked. */
export async function openDigests(client: Client, rules: readonly string[], now: Date) {
  if (rules.length === 0) return new Map<string, { readonly id: string; readonly told: Digest }>()
  const { rows } = await OPEN.query(client, [rules, now])
  return new Map(rows.map(({ ruleId, ...digest }) => [ruleId, digest]))
}
const EXTEND = statement({
  name: 'extend-digest',
  text: 'update notification set told = $2 where id = $1',
  params: [uuid, jsonb],
})
export async function extendDigest(client: Client, id: string, told: Digest): Promise<void> {
  await EXTEND.query(client, [id, JSON.stringify(told)])
}
