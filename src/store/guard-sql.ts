import type { Machine } from '../core/machine.ts'
import type { ObjectKind } from '../core/vocabulary.ts'

/**
 * SQL that lets the database itself refuse what the guard would refuse, even from psql: an object is created in its
 * machine's initial phase, moves only along rows of its table (whoever the actor), is deleted only from where it may be
 * gone, and keeps its kind. Idempotent: run it again whenever the machines have changed. A refusal is a
 * `check_violation` that names kind and phases, and hints where the object may go.
 *
 * A kind is judged by its first machine, that of its `phase`; further ones belong to other columns. Every hop of a
 * chain of transitions has to be an update of its own: what two rows would reach together is refused.
 */
export function guardSql(machines: readonly Machine[]): string {
  const judged = primaryMachines(machines)
  const branches = (then: (machine: Machine) => string): string =>
    judged.map(({ kinds, machine }) => `    when ${anyOf(kinds)} then ${then(machine)}`).join('\n')
  return [
    functionOfKind('object_initial_phase("object_kind") returns "phase"', branches(({ initial }) => `'${initial}'::"phase"`)),
    functionOfKind('object_next_phases("object_kind", "phase") returns "phase"[]', branches(nextPhases)),
    TRIGGERS,
  ].join('\n')
}

interface Judged {
  readonly kinds: readonly ObjectKind[]
  readonly machine: Machine
}

function primaryMachines(machines: readonly Machine[]): readonly Judged[] {
  const taken = new Set<ObjectKind>()
  return machines.flatMap((machine) => {
    const kinds = machine.kinds.filter((kind) => !taken.has(kind))
    for (const kind of kinds) taken.add(kind)
    return kinds.length > 0 ? [{ kinds, machine }] : []
  })
}

const anyOf = (kinds: readonly ObjectKind[]): string => kinds.map((kind) => `$1 = '${kind}'`).join(' or ')

/** Where an object may go from each phase, whoever may take it there. */
function nextPhases({ transitions }: Machine): string {
  const branches = [...Map.groupBy(transitions, ({ from }) => from)].map(([from, rows]) => {
    const next = new Set(rows.map(({ to }) => to))
    return `      when '${from}' then '{${[...next].join(',')}}'::"phase"[]`
  })
  return ['case $2', ...branches, '    end'].join('\n')
}

// Literals in an immutable SQL function: the planner puts its body in the place of the call, once a session, and
// comparing enums is comparing numbers. A phase write gets about 0.7 µs dearer by it; texts like 'FROM>TO' cost two or
// three times that, and the same condition as the trigger's WHEN 0.3 ms for every statement, which parses it anew.
const functionOfKind = (signature: string, branches: string): string =>
  `create or replace function ${signature}
language sql immutable parallel safe as $sql$
  select case
${branches}
  end
$sql$;
`

const TRIGGERS = `create or replace function object_phase_refused("object_kind", "phase", "phase") returns void
language plpgsql as $plpgsql$
declare
  next_phases "phase"[] := case when $2 is null then array[object_initial_phase($1)] else object_next_phases($1, $2) end;
begin
  raise exception '% may not go from % to %', $1, coalesce($2::text, 'nowhere'), $3 using
    errcode = 'check_violation',
    hint = format('From there it may go to: %s. To GONE is to be deleted.', coalesce(array_to_string(next_phases, ', '), 'nowhere'));
end
$plpgsql$;

create or replace function object_created_guard() returns trigger
language plpgsql as $plpgsql$
begin
  if new.phase = object_initial_phase(new.kind) then return new; end if;
  perform object_phase_refused(new.kind, null, new.phase);
end
$plpgsql$;

create or replace function object_moved_guard() returns trigger
language plpgsql as $plpgsql$
begin
  if new.phase = any (object_next_phases(old.kind, old.phase)) and new.phase <> 'GONE' then return new; end if;
  perform object_phase_refused(old.kind, old.phase, new.phase);
end
$plpgsql$;

create or replace function object_gone_guard() returns trigger
language plpgsql as $plpgsql$
begin
  if 'GONE' = any (object_next_phases(old.kind, old.phase)) then return old; end if;
  perform object_phase_refused(old.kind, old.phase, 'GONE');
end
$plpgsql$;

create or replace function object_kind_guard() returns trigger
language plpgsql as $plpgsql$
begin
  raise exception '% in phase % may not become %: an object keeps its kind', old.kind, old.phase, new.kind using
    errcode = 'check_violation',
    hint = format('Create an object of kind %s; it starts in phase %s.', new.kind, object_initial_phase(new.kind));
end
$plpgsql$;

create or replace trigger object_created before insert on "object"
  for each row execute function object_created_guard();
create or replace trigger object_moved before update of "phase" on "object"
  for each row when (old.phase is distinct from new.phase) execute function object_moved_guard();
create or replace trigger object_gone before delete on "object"
  for each row execute function object_gone_guard();
create or replace trigger object_kind_kept before update of "kind" on "object"
  for each row when (old.kind is distinct from new.kind) execute function object_kind_guard();
`
