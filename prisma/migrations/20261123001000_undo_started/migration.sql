-- UNDO says that a run is undone; that it is about to be is UNDO_STARTED. Jobs in the middle of it had UNDO written before.
update "journal" j set "entry" = 'UNDO_STARTED'
from "object" o
where o."id" = j."object_id" and o."kind" = 'GADGET_JOB' and o."phase" in ('UNDOING', 'UNDO_FAILED') and j."entry" = 'UNDO'
  and j."n" > (select max(s."n") from "journal" s where s."object_id" = j."object_id" and s."entry" = 'START');

-- What could not be cleaned up is cleaned up again; it is told from what could not be undone. That had an UNDO after its last START,
-- whereas what a run was undone for earlier, a crash, was kept until the end of the job.
update "gadget_job" g set "undo_after" = 'ABORT'
from "object" o
where o."id" = g."object_id" and o."phase" = 'UNDO_FAILED' and (g."undo_after" is null or 'START' = (
  select j."entry" from "journal" j where j."object_id" = g."object_id" order by j."n" desc limit 1));
