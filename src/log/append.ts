import type { Change } from '../core/ports.ts'
import type { Client } from '../store/client.ts'
const C = [['object_id','uuid'],['root_id','uuid'],['parent_id','uuid'],['project_name','text'],['kind','object_kind'],['name','text'],['machine','text'],['from','phase'],['to','phase'],['actor','actor'],['by','text'],['reason','text'],['message','text'],['job_id','uuid'],['revision','integer'],['rejected','boolean'],['at','timestamptz']] as const
const camel = (s: string) => s.replace(/_([a-z])/g, (_, c: string) => c.toUpperCase())
export async function appendChanges(client: Client, changes: readonly Change[]): Promise<void> {
  await client.query({ name: 'append-changes', text: `with b as (insert into log_batch (id, n) values (nextval('log_batch_id_seq'), $1) returning id)
  insert into phase_change (batch_id, idx, ${C.map(([c]) => `"${c}"`).join(',')}) select b.id, u.ord - 1, ${C.map(([c]) => `u."${c}"`).join(',')} from b, unnest(${C.map(([, t], i) => `$${i + 2}::${t}[]`).join(',')}) with ordinality as u(${C.map(([c]) => `"${c}"`).join(',')}, ord)`,
  values: [changes.length, ...C.map(([c]) => changes.map((x) => (x as unknown as Record<string, unknown>)[camel(c)] ?? null))] })
}
