import type { Machine, MachineColumn } from '../core/machine.ts'
import type { ObjectKind, Phase } from '../core/vocabulary.ts'

/**
 * SQL that lets the database itself refuse what the guard would refuse, even from psql: an object is created in its
 * machine's initial phase, or as far on from there as the rows of its table lead, with a revision for each of them; moves
 * only along these rows (by any actor), is deleted only from where it may be gone, and keeps its kind. Idempotent: run it again whenever the machines have changed. A refusal is a
 * `check_violation` that names kind and phases, and hints where the object may go.
 *
 * A kind is judged by its first machine, that of its `phase`; further ones belong to other columns. Every hop of a
 * chain of transitions has to be an update of its own: what two rows would reach together is refused. Only what is new
 * may come with its first hops done, as it would leave the transaction that creates it and moves it on.
 */
export function guardSql(machines: readonly Machine[]): string {
  const judged = primaryMachines(machines)
  const initial = judged.map(({ kinds, machine }) => `    when $1 in (${kinds}) then '${machine.initial}'::"phase"`)
  const next = judged.map(({ kinds, machine }) => `    when $1 in (${kinds}) then ${nextPhases(machine, '$2')}`)
  const moves = judged.map(
    ({ kinds, machine }) => `    when ${kinds} then
      if new.phase = any (${nextPhases(machine, 'old.phase', 'GONE')}) then return new; end if;`,
  )
  const births = judged.map(
    ({ kinds, machine }) => `    when ${kinds} then
      if new.revision >= ${leastRevision(machine)} then return new; end if;`,
  )
  return [
    functionOfKind('object_initial_phase("object_kind") returns "phase"', initial),
    functionOfKind('object_next_phases("object_kind", "phase") returns "phase"[]', next),
    REFUSAL,
    branchingGuard('object_moved_guard', 'old.kind', moves, 'old.kind, old.phase, new.phase'),
    branchingGuard('object_created_guard', 'new.kind', births, 'new.kind, null, new.phase'),
    GUARDS,
    TRIGGERS,
    ...machines.flatMap((machine) => (machine.column ? [secondaryGuard(machine, machine.column)] : [])),
  ].join('\n')
}

function secondaryGuard(machine: Machine, { table, column }: MachineColumn): string {
  const name = `${table}_${column}_guard`
  return `create or replace function ${name}() returns trigger
language plpgsql as $plpgsql$
declare
  next_phases "phase"[] := ${nextPhases(machine, `old.${column}`)};
begin
  if new.${column} = any (next_phases) then return new; end if;
  raise exception '% may not go from % to %', '${machine.name}', old.${column}, new.${column} using
    errcode = 'check_violation',
    hint = 'From there it may go to: ' || coalesce(nullif(array_to_string(next_phases, ', '), ''), 'no other phase') || '.';
end
$plpgsql$;

create or replace trigger ${table}_${column}_moved before update of ${column} on "${table}"
  for each row when (old.${column} is distinct from new.${column}) execute function ${name}();
`
}

/** `kinds` as a list of SQL literals. */
interface Judged {
  readonly kinds: string
  readonly machine: Machine
}

function primaryMachines(machines: readonly Machine[]): readonly Judged[] {
  const taken = new Set<ObjectKind>()
  return machines.flatMap((machine) => {
    const kinds = machine.kinds.filter((kind) => !taken.has(kind))
    for (const kind of kinds) taken.add(kind)
    return kinds.length > 0 ? [{ kinds: kinds.map((kind) => `'${kind}'`).join(', '), machine }] : []
  })
}

/** An expression for the phases that an object may go to from a phase, by any actor. */
function nextPhases({ transitions }: Machine, phase: string, except?: Phase): string {
  const rows = transitions.filter(({ to }) => to !== except)
  const branches = [...Map.groupBy(rows, ({ from }) => from)].map(([from, to]) => {
    const next = new Set(to.map((row) => row.to))
    return `        when '${from}' then '{${[...next].join(',')}}'::"phase"[]`
  })
  return `case ${phase}\n${branches.join('\n')}\n      end`
}

const functionOfKind = (
  signature: string,
  branches: readonly string[],
): string => `create or replace function ${signature}
language sql immutable parallel safe as $sql$
  select case
${branches.join('\n')}
  end
$sql$;
`

/** An expression for the revision that a new object has at least, when it has come as far as its phase. */
function leastRevision({ transitions, initial }: Machine): string {
  const least = new Map<Phase, number>([[initial, 1]])
  for (const [at, revision] of least) {
    for (const { from, to } of transitions)
      if (from === at && to !== 'GONE' && !least.has(to)) least.set(to, revision + 1)
  }
  const branches = [...least].map(([phase, revision]) => `        when '${phase}' then ${revision}`)
  return `(case new.phase\n${branches.join('\n')}\n      end)`
}

// On the way of every phase write, so it has the rows as literals of its own and a branch for each kind: a session plans
// only those that it takes, and to compare enums is to compare numbers. Measured: 1.0 µs a row and 5 µs a transaction.
// As texts like 'FROM>TO' it was 1.3 and 4; as one expression for all kinds 0.9 and 18; in the trigger's WHEN, which
// every statement parses anew, 0.5 and 300.
const branchingGuard = (
  name: string,
  kind: string,
  branches: readonly string[],
  refused: string,
): string => `create or replace function ${name}() returns trigger
language plpgsql as $plpgsql$
begin
  case ${kind}
${branches.join('\n')}
    else null;
  end case;
  perform object_phase_refused(${refused});
end
$plpgsql$;
`

const REFUSAL = `create or replace function object_phase_refused("object_kind", "phase", "phase") returns void
language plpgsql as $plpgsql$
declare
  next_phases "phase"[] := case when $2 is null then array[object_initial_phase($1)] else object_next_phases($1, $2) end;
  onward text := coalesce(nullif(array_to_string(array_remove(next_phases, 'GONE'), ', '), ''), 'no other phase');
begin
  raise exception '% may not go from % to %', $1, coalesce($2::text, 'nowhere'), $3 using
    errcode = 'check_violation',
    hint = 'From there it may go to: ' || onward || case when 'GONE' = any (next_phases) then ', or be deleted.' else '.' end;
end
$plpgsql$;
`

const GUARDS = `create or replace function object_gone_guard() returns trigger
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
`

const TRIGGERS = `create or replace trigger object_created before insert on "object"
  for each row execute function object_created_guard();
create or replace trigger object_moved before update of "phase" on "object"
  for each row when (old.phase is distinct from new.phase) execute function object_moved_guard();
create or replace trigger object_gone before delete on "object"
  for each row execute function object_gone_guard();
create or replace trigger object_kind_kept before update of "kind" on "object"
  for each row when (old.kind is distinct from new.kind) execute function object_kind_guard();
`
