-- Made from the machine tables by `npm run generate`; a check compares the two.
create or replace function object_initial_phase("object_kind") returns "phase"
language sql immutable parallel safe as $sql$
  select case
    when $1 in ('INSTALLATION') then 'PENDING'::"phase"
    when $1 in ('EXECUTION') then 'PENDING'::"phase"
    when $1 in ('DEPLOY_ITEM') then 'PENDING'::"phase"
    when $1 in ('EVENT', 'WORKER', 'JOB') then 'PENDING'::"phase"
    when $1 in ('TASK') then 'PENDING'::"phase"
    when $1 in ('GADGET_JOB') then 'PENDING'::"phase"
    when $1 in ('CLOUDLET') then 'OFFLINE'::"phase"
    when $1 in ('CLUSTER_INST', 'APP_INST') then 'NOT_PRESENT'::"phase"
    when $1 in ('SCHEDULE') then 'ACTIVE'::"phase"
    when $1 in ('BULK_OPERATION') then 'PENDING'::"phase"
  end
$sql$;

create or replace function object_next_phases("object_kind", "phase") returns "phase"[]
language sql immutable parallel safe as $sql$
  select case
    when $1 in ('INSTALLATION') then case $2
        when 'PENDING' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'PENDING_DEPENDENCIES' then '{INIT,FAILED,ABORTED}'::"phase"[]
        when 'INIT' then '{CLEANUP_ORPHANED,FAILED,ABORTED}'::"phase"[]
        when 'CLEANUP_ORPHANED' then '{OBJECTS_CREATED,FAILED,ABORTED}'::"phase"[]
        when 'OBJECTS_CREATED' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{TRIGGER_DELETE,DELETE_FAILED}'::"phase"[]
        when 'TRIGGER_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('EXECUTION') then case $2
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('DEPLOY_ITEM') then case $2
        when 'PENDING' then '{INIT,INIT_DELETE,GONE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{FAILED,ABORTED,PROGRESSING,SUCCEEDED}'::"phase"[]
        when 'PROGRESSING' then '{SUCCEEDED,FAILED,ABORTED,INIT}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,GONE,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{GONE,DELETE_FAILED}'::"phase"[]
      end
    when $1 in ('EVENT', 'WORKER', 'JOB') then case $2
        when 'PENDING' then '{STARTING,SCHEDULING_FAILED,SUCCEEDED,CANCELED,FAILED,TIMED_OUT,GONE}'::"phase"[]
        when 'STARTING' then '{RUNNING,SUCCEEDED,FAILED,UNKNOWN,SCHEDULING_FAILED,ABORTED,TIMED_OUT,PENDING,GONE}'::"phase"[]
        when 'RUNNING' then '{UNKNOWN,SUCCEEDED,FAILED,ABORTED,TIMED_OUT,PENDING,GONE}'::"phase"[]
        when 'UNKNOWN' then '{SUCCEEDED,FAILED,RUNNING,ABORTED,TIMED_OUT,PENDING,GONE}'::"phase"[]
        when 'SUCCEEDED' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
        when 'CANCELED' then '{GONE}'::"phase"[]
        when 'SCHEDULING_FAILED' then '{GONE}'::"phase"[]
        when 'TIMED_OUT' then '{GONE}'::"phase"[]
      end
    when $1 in ('TASK') then case $2
        when 'PENDING' then '{RUNNING,ABORTING}'::"phase"[]
        when 'RUNNING' then '{SUCCEEDED,FAILED,ABORTING}'::"phase"[]
        when 'ABORTING' then '{ABORTED}'::"phase"[]
        when 'SUCCEEDED' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
      end
    when $1 in ('GADGET_JOB') then case $2
        when 'PENDING' then '{DECLARING,DONE,SKIPPED,FAILED,ABORTED}'::"phase"[]
        when 'DECLARING' then '{WAITING,FAILED,ABORTED}'::"phase"[]
        when 'WAITING' then '{RUNNING,SKIPPED,FAILED,ABORTED}'::"phase"[]
        when 'RUNNING' then '{DONE,UNDOING,ABORTING}'::"phase"[]
        when 'UNDOING' then '{FAILED,PENDING,RUNNING,ABORTED,UNDO_FAILED}'::"phase"[]
        when 'ABORTING' then '{ABORTED,UNDO_FAILED}'::"phase"[]
        when 'UNDO_FAILED' then '{UNDOING,FAILED}'::"phase"[]
        when 'DONE' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
        when 'SKIPPED' then '{GONE}'::"phase"[]
      end
    when $1 in ('CLOUDLET') then case $2
        when 'OFFLINE' then '{INIT,GONE}'::"phase"[]
        when 'READY' then '{INIT,OFFLINE}'::"phase"[]
        when 'INIT' then '{INIT,INIT_OK,OFFLINE}'::"phase"[]
        when 'INIT_OK' then '{INIT,READY,OFFLINE}'::"phase"[]
      end
    when $1 in ('CLUSTER_INST', 'APP_INST') then case $2
        when 'NOT_PRESENT' then '{CREATE_REQUESTED,GONE}'::"phase"[]
        when 'CREATE_REQUESTED' then '{CREATING,READY,CREATE_ERROR,GONE}'::"phase"[]
        when 'CREATING' then '{READY,CREATE_ERROR,GONE}'::"phase"[]
        when 'CREATE_ERROR' then '{NOT_PRESENT,GONE}'::"phase"[]
        when 'READY' then '{UPDATE_REQUESTED,DELETE_PREPARE,GONE}'::"phase"[]
        when 'UPDATE_REQUESTED' then '{UPDATING,READY,UPDATE_ERROR,GONE}'::"phase"[]
        when 'UPDATING' then '{READY,UPDATE_ERROR,GONE}'::"phase"[]
        when 'UPDATE_ERROR' then '{READY,GONE}'::"phase"[]
        when 'DELETE_PREPARE' then '{DELETE_REQUESTED,READY,GONE}'::"phase"[]
        when 'DELETE_REQUESTED' then '{DELETING,DELETED,DELETE_ERROR,NOT_PRESENT,GONE}'::"phase"[]
        when 'DELETING' then '{NOT_PRESENT,DELETE_ERROR,GONE}'::"phase"[]
        when 'DELETED' then '{NOT_PRESENT,GONE}'::"phase"[]
        when 'DELETE_ERROR' then '{READY,GONE}'::"phase"[]
      end
    when $1 in ('SCHEDULE') then case $2
        when 'ACTIVE' then '{PAUSED,ACTIVE,FINISHED,GONE}'::"phase"[]
        when 'PAUSED' then '{ACTIVE,PAUSED,FINISHED,GONE}'::"phase"[]
        when 'FINISHED' then '{FINISHED,ACTIVE,PAUSED,GONE}'::"phase"[]
      end
    when $1 in ('BULK_OPERATION') then case $2
        when 'PENDING' then '{RUNNING,ABORTED}'::"phase"[]
        when 'RUNNING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'SUCCEEDED' then '{GONE}'::"phase"[]
        when 'FAILED' then '{GONE}'::"phase"[]
        when 'ABORTED' then '{GONE}'::"phase"[]
      end
  end
$sql$;

create or replace function object_phase_refused("object_kind", "phase", "phase") returns void
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

create or replace function object_moved_guard() returns trigger
language plpgsql as $plpgsql$
begin
  case old.kind
    when 'INSTALLATION' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{PENDING_DEPENDENCIES,INIT,INIT_DELETE}'::"phase"[]
        when 'PENDING_DEPENDENCIES' then '{INIT,FAILED,ABORTED}'::"phase"[]
        when 'INIT' then '{CLEANUP_ORPHANED,FAILED,ABORTED}'::"phase"[]
        when 'CLEANUP_ORPHANED' then '{OBJECTS_CREATED,FAILED,ABORTED}'::"phase"[]
        when 'OBJECTS_CREATED' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{TRIGGER_DELETE,DELETE_FAILED}'::"phase"[]
        when 'TRIGGER_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'EXECUTION' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{PROGRESSING,FAILED,ABORTED}'::"phase"[]
        when 'PROGRESSING' then '{COMPLETING,FAILED,ABORTED}'::"phase"[]
        when 'COMPLETING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'DEPLOY_ITEM' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'SUCCEEDED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'FAILED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'ABORTED' then '{INIT,INIT_DELETE}'::"phase"[]
        when 'INIT' then '{FAILED,ABORTED,PROGRESSING,SUCCEEDED}'::"phase"[]
        when 'PROGRESSING' then '{SUCCEEDED,FAILED,ABORTED,INIT}'::"phase"[]
        when 'DELETE_FAILED' then '{INIT_DELETE}'::"phase"[]
        when 'INIT_DELETE' then '{DELETING,DELETE_FAILED}'::"phase"[]
        when 'DELETING' then '{DELETE_FAILED}'::"phase"[]
      end) then return new; end if;
    when 'EVENT', 'WORKER', 'JOB' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{STARTING,SCHEDULING_FAILED,SUCCEEDED,CANCELED,FAILED,TIMED_OUT}'::"phase"[]
        when 'STARTING' then '{RUNNING,SUCCEEDED,FAILED,UNKNOWN,SCHEDULING_FAILED,ABORTED,TIMED_OUT,PENDING}'::"phase"[]
        when 'RUNNING' then '{UNKNOWN,SUCCEEDED,FAILED,ABORTED,TIMED_OUT,PENDING}'::"phase"[]
        when 'UNKNOWN' then '{SUCCEEDED,FAILED,RUNNING,ABORTED,TIMED_OUT,PENDING}'::"phase"[]
      end) then return new; end if;
    when 'TASK' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{RUNNING,ABORTING}'::"phase"[]
        when 'RUNNING' then '{SUCCEEDED,FAILED,ABORTING}'::"phase"[]
        when 'ABORTING' then '{ABORTED}'::"phase"[]
      end) then return new; end if;
    when 'GADGET_JOB' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{DECLARING,DONE,SKIPPED,FAILED,ABORTED}'::"phase"[]
        when 'DECLARING' then '{WAITING,FAILED,ABORTED}'::"phase"[]
        when 'WAITING' then '{RUNNING,SKIPPED,FAILED,ABORTED}'::"phase"[]
        when 'RUNNING' then '{DONE,UNDOING,ABORTING}'::"phase"[]
        when 'UNDOING' then '{FAILED,PENDING,RUNNING,ABORTED,UNDO_FAILED}'::"phase"[]
        when 'ABORTING' then '{ABORTED,UNDO_FAILED}'::"phase"[]
        when 'UNDO_FAILED' then '{UNDOING,FAILED}'::"phase"[]
      end) then return new; end if;
    when 'CLOUDLET' then
      if new.phase = any (case old.phase
        when 'OFFLINE' then '{INIT}'::"phase"[]
        when 'READY' then '{INIT,OFFLINE}'::"phase"[]
        when 'INIT' then '{INIT,INIT_OK,OFFLINE}'::"phase"[]
        when 'INIT_OK' then '{INIT,READY,OFFLINE}'::"phase"[]
      end) then return new; end if;
    when 'CLUSTER_INST', 'APP_INST' then
      if new.phase = any (case old.phase
        when 'NOT_PRESENT' then '{CREATE_REQUESTED}'::"phase"[]
        when 'CREATE_REQUESTED' then '{CREATING,READY,CREATE_ERROR}'::"phase"[]
        when 'CREATING' then '{READY,CREATE_ERROR}'::"phase"[]
        when 'CREATE_ERROR' then '{NOT_PRESENT}'::"phase"[]
        when 'READY' then '{UPDATE_REQUESTED,DELETE_PREPARE}'::"phase"[]
        when 'UPDATE_REQUESTED' then '{UPDATING,READY,UPDATE_ERROR}'::"phase"[]
        when 'UPDATING' then '{READY,UPDATE_ERROR}'::"phase"[]
        when 'UPDATE_ERROR' then '{READY}'::"phase"[]
        when 'DELETE_PREPARE' then '{DELETE_REQUESTED,READY}'::"phase"[]
        when 'DELETE_REQUESTED' then '{DELETING,DELETED,DELETE_ERROR,NOT_PRESENT}'::"phase"[]
        when 'DELETING' then '{NOT_PRESENT,DELETE_ERROR}'::"phase"[]
        when 'DELETED' then '{NOT_PRESENT}'::"phase"[]
        when 'DELETE_ERROR' then '{READY}'::"phase"[]
      end) then return new; end if;
    when 'SCHEDULE' then
      if new.phase = any (case old.phase
        when 'ACTIVE' then '{PAUSED,ACTIVE,FINISHED}'::"phase"[]
        when 'PAUSED' then '{ACTIVE,PAUSED,FINISHED}'::"phase"[]
        when 'FINISHED' then '{FINISHED,ACTIVE,PAUSED}'::"phase"[]
      end) then return new; end if;
    when 'BULK_OPERATION' then
      if new.phase = any (case old.phase
        when 'PENDING' then '{RUNNING,ABORTED}'::"phase"[]
        when 'RUNNING' then '{SUCCEEDED,FAILED,ABORTED}'::"phase"[]
      end) then return new; end if;
    else null;
  end case;
  perform object_phase_refused(old.kind, old.phase, new.phase);
end
$plpgsql$;

create or replace function object_created_guard() returns trigger
language plpgsql as $plpgsql$
begin
  case new.kind
    when 'INSTALLATION' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'PENDING_DEPENDENCIES' then 2
        when 'INIT' then 2
        when 'INIT_DELETE' then 2
        when 'FAILED' then 3
        when 'ABORTED' then 3
        when 'CLEANUP_ORPHANED' then 3
        when 'TRIGGER_DELETE' then 3
        when 'DELETE_FAILED' then 3
        when 'OBJECTS_CREATED' then 4
        when 'DELETING' then 4
        when 'PROGRESSING' then 5
        when 'COMPLETING' then 6
        when 'SUCCEEDED' then 7
      end) then return new; end if;
    when 'EXECUTION' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'INIT' then 2
        when 'INIT_DELETE' then 2
        when 'PROGRESSING' then 3
        when 'FAILED' then 3
        when 'ABORTED' then 3
        when 'DELETING' then 3
        when 'DELETE_FAILED' then 3
        when 'COMPLETING' then 4
        when 'SUCCEEDED' then 5
      end) then return new; end if;
    when 'DEPLOY_ITEM' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'INIT' then 2
        when 'INIT_DELETE' then 2
        when 'FAILED' then 3
        when 'ABORTED' then 3
        when 'PROGRESSING' then 3
        when 'SUCCEEDED' then 3
        when 'DELETING' then 3
        when 'DELETE_FAILED' then 3
      end) then return new; end if;
    when 'EVENT', 'WORKER', 'JOB' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'STARTING' then 2
        when 'SCHEDULING_FAILED' then 2
        when 'SUCCEEDED' then 2
        when 'CANCELED' then 2
        when 'FAILED' then 2
        when 'TIMED_OUT' then 2
        when 'RUNNING' then 3
        when 'UNKNOWN' then 3
        when 'ABORTED' then 3
      end) then return new; end if;
    when 'TASK' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'RUNNING' then 2
        when 'ABORTING' then 2
        when 'SUCCEEDED' then 3
        when 'FAILED' then 3
        when 'ABORTED' then 3
      end) then return new; end if;
    when 'GADGET_JOB' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'DECLARING' then 2
        when 'DONE' then 2
        when 'SKIPPED' then 2
        when 'FAILED' then 2
        when 'ABORTED' then 2
        when 'WAITING' then 3
        when 'RUNNING' then 4
        when 'UNDOING' then 5
        when 'ABORTING' then 5
        when 'UNDO_FAILED' then 6
      end) then return new; end if;
    when 'CLOUDLET' then
      if new.revision >= (case new.phase
        when 'OFFLINE' then 1
        when 'INIT' then 2
        when 'INIT_OK' then 3
        when 'READY' then 4
      end) then return new; end if;
    when 'CLUSTER_INST', 'APP_INST' then
      if new.revision >= (case new.phase
        when 'NOT_PRESENT' then 1
        when 'CREATE_REQUESTED' then 2
        when 'CREATING' then 3
        when 'READY' then 3
        when 'CREATE_ERROR' then 3
        when 'UPDATE_REQUESTED' then 4
        when 'DELETE_PREPARE' then 4
        when 'UPDATING' then 5
        when 'UPDATE_ERROR' then 5
        when 'DELETE_REQUESTED' then 5
        when 'DELETING' then 6
        when 'DELETED' then 6
        when 'DELETE_ERROR' then 6
      end) then return new; end if;
    when 'SCHEDULE' then
      if new.revision >= (case new.phase
        when 'ACTIVE' then 1
        when 'PAUSED' then 2
        when 'FINISHED' then 2
      end) then return new; end if;
    when 'BULK_OPERATION' then
      if new.revision >= (case new.phase
        when 'PENDING' then 1
        when 'RUNNING' then 2
        when 'ABORTED' then 2
        when 'SUCCEEDED' then 3
        when 'FAILED' then 3
      end) then return new; end if;
    else null;
  end case;
  perform object_phase_refused(new.kind, null, new.phase);
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

create or replace function cloudlet_upgrade_phase_guard() returns trigger
language plpgsql as $plpgsql$
declare
  next_phases "phase"[] := case old.upgrade_phase
        when 'READY' then '{UPDATE_REQUESTED}'::"phase"[]
        when 'UPDATE_REQUESTED' then '{UPDATING,UPDATE_ERROR,INIT_OK}'::"phase"[]
        when 'UPDATING' then '{INIT_OK,READY,UPDATE_ERROR}'::"phase"[]
        when 'INIT_OK' then '{READY,UPDATE_ERROR}'::"phase"[]
        when 'UPDATE_ERROR' then '{UPDATE_ERROR,READY}'::"phase"[]
      end;
begin
  if new.upgrade_phase = any (next_phases) then return new; end if;
  raise exception '% may not go from % to %', 'cloudletUpgrade', old.upgrade_phase, new.upgrade_phase using
    errcode = 'check_violation',
    hint = 'From there it may go to: ' || coalesce(nullif(array_to_string(next_phases, ', '), ''), 'no other phase') || '.';
end
$plpgsql$;

create or replace trigger cloudlet_upgrade_phase_moved before update of upgrade_phase on "cloudlet"
  for each row when (old.upgrade_phase is distinct from new.upgrade_phase) execute function cloudlet_upgrade_phase_guard();
