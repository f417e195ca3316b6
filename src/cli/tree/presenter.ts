import { describeBlocker, forecastText, type Machines } from '../../client-model/index.ts'
import { describeCounts, type Mark, markOf } from '../objects/phases.ts'
import type { WatchResult } from '../objects/watch-end.ts'
import type { Output } from '../terminal/io.ts'
import { printJson, printLine } from '../terminal/io.ts'
import type { Paint } from '../terminal/paint.ts'
import { duration } from '../terminal/text.ts'
import type { TreeObject } from './fields.ts'
import { countAll } from './layout.ts'
import { type TreeChange, type TreeModel, visibleBlockers } from './model.ts'
import type { TreeSnapshot } from './read.ts'
import { renderTree } from './render.ts'
import { openScreen } from './screen.ts'

/** A phase change with its actor and reason, for printing. */
export interface DescribedChange extends TreeChange {
  readonly actor: string
  readonly by?: string | null
  readonly reason?: string | null
  readonly message?: string | null
}

/** The output of a watched tree: redrawn, line by line, or as JSON. */
export interface Presenter extends Disposable {
  loaded(model: TreeModel, snapshot: TreeSnapshot): void
  /** The tree was read again, since the log had lost its place; null when the tree is gone. */
  reloaded(model: TreeModel, snapshot: TreeSnapshot | null): void
  /** Called before the model applies the change, so that the name of a deleted object is still known. */
  change(change: DescribedChange, model: TreeModel): void
  update(object: TreeObject, model: TreeModel): void
  /** Called when the model has changed, or time has passed. */
  refresh(model: TreeModel): void
  /** Something else has printed beneath. */
  moved(): void
  ended(model: TreeModel, result: WatchResult): void
}

/** The most frames a second that an eye can follow. */
const FRAME_MS = 100
/** The share of time that drawing may take: the layout of a huge tree is slow. */
const DRAW_SHARE = 5

export function liveTree(out: Output, paint: Paint): Presenter {
  const screen = openScreen(out)
  let timer: NodeJS.Timeout | undefined
  let pause = FRAME_MS
  const draw = (model: TreeModel): void => {
    const started = performance.now()
    screen.draw(renderTree(model, { ...screen.size, now: Date.now(), paint }))
    pause = Math.max(FRAME_MS, (performance.now() - started) * DRAW_SHARE)
  }
  const refresh = (model: TreeModel): void => {
    timer ??= setTimeout(() => {
      timer = undefined
      draw(model)
    }, pause)
  }
  return {
    loaded: draw,
    reloaded: refresh,
    change: (_change, model) => refresh(model),
    update: (_object, model) => refresh(model),
    refresh,
    moved: () => screen.moved(),
    ended(model, result) {
      clearTimeout(timer)
      if (model.root) draw(model)
      for (const line of failures(model, result, paint)) printLine(out, line)
    },
    [Symbol.dispose]() {
      clearTimeout(timer)
      screen[Symbol.dispose]()
    },
  }
}

/** Reasons for which nested objects usually wait: they get no line. */
const ORDINARY = ['DEPENDENCY', 'PARENT', 'CHILDREN']

/** For pipes and build logs: one line for each phase change, and for each unusual reason to wait. */
export function treeLines(out: Output, paint: Paint): Presenter {
  const printed = new Map<string, string>()
  let isExpected = false
  return {
    loaded(model) {
      printLine(out, describeTree(model))
    },
    reloaded(model) {
      printLine(out, `The log has lost the place that it was read from. Read again: ${describeTree(model)}`)
    },
    change(change, model) {
      if (!model.isBelow(change.objectId)) return
      printLine(
        out,
        describeChange(change, model.pathOf(change.objectId) || change.name, { paint, machines: model.machines }),
      )
    },
    update() {},
    refresh(model) {
      const now = Date.now()
      const expected = isExpected || model.root?.finished ? null : forecastText(model.forecast, now, duration)
      if (expected) {
        isExpected = true
        printLine(out, paint('dim', `${' '.repeat(26)}○ ${model.rootName} ${expected}`))
      }
      for (const node of model.nodes.values()) {
        const { id, finished } = node
        // The lines of its children tell how the root gets on.
        const quiet = id === model.rootId ? ['CHILDREN'] : ORDINARY
        // A blocker of another object has the line of that object, and one of the root.
        const blocker = finished
          ? undefined
          : visibleBlockers(node, now).find(
              ({ reason, source }) => !quiet.includes(reason) && (id === model.rootId || !source),
            )
        // The distance of its time from now changes all the time, and is no news.
        if (!blocker || printed.get(id) === blocker.message || !model.isBelow(id)) continue
        printed.set(id, blocker.message)
        printLine(out, paint('dim', `${' '.repeat(26)}○ ${model.pathOf(id)} ${describeBlocker(blocker, now)}`))
      }
    },
    ended(model, result) {
      for (const line of failures(model, result, paint)) printLine(out, line)
      printLine(out, `${model.rootName} ${result.outcome}: ${describeCounts(countAll(model)) || 'nothing left'}`)
    },
    moved() {},
    [Symbol.dispose]() {},
  }
}

/** NDJSON: a snapshot, then phase changes and updates, and the result as the last line. */
export function treeJson(out: Output): Presenter {
  return {
    loaded: (_model, snapshot) => printJson(out, { type: 'snapshot', ...snapshot }),
    reloaded: (_model, snapshot) => printJson(out, { type: 'snapshot', sequence: null, objects: [], ...snapshot }),
    change: (change) => printJson(out, { type: 'phase', ...change }),
    update: (object) => printJson(out, { type: 'update', object }),
    refresh() {},
    moved() {},
    ended: (_model, { outcome, phase, error }) => printJson(out, { type: 'result', outcome, phase, error }),
    [Symbol.dispose]() {},
  }
}

const describeTree = (model: TreeModel): string => `${model.rootName} ${describeCounts(countAll(model)) || 'is gone'}`

/** Names the lifecycle of a change that does not move the object's own phase, e.g. ` upgrade` for `cloudletUpgrade`. */
function lifecycleOf({ kind, machine }: DescribedChange, machines: Machines): string {
  const own = machines.of(kind)?.name ?? machine
  if (machine === own) return ''
  return ` ${machine.startsWith(own) ? machine.slice(own.length).toLowerCase() : machine}`
}

/** The last change of an object leads to GONE, which no object is in. */
const GONE: Mark = { symbol: '∅', style: 'dim' }

/** e.g. `2026-11-26T12:00:01.250Z  ▶ shop/api  INIT → PROGRESSING  DEPLOYER mock: picked up`. */
export function describeChange(
  change: DescribedChange,
  path: string,
  { paint, machines }: { readonly paint: Paint; readonly machines: Machines },
): string {
  const { symbol, style } = change.to === 'GONE' ? GONE : markOf(machines.classOf(change.to))
  const who = change.by ? `${change.actor} ${change.by}` : change.actor
  const isRequest = change.revision === 0 && !change.rejected
  const why = isRequest ? `${change.reason}. ${change.message}` : (change.message ?? change.reason)
  return [
    `${change.at}  `,
    change.rejected ? paint('red', '! ') : isRequest ? paint('yellow', '… ') : paint(style, `${symbol} `),
    `${path}${lifecycleOf(change, machines)}  ${isRequest ? '' : `${change.from ?? '(new)'} → `}`,
    paint(style, change.to),
    paint('dim', why ? `  ${who}: ${why}` : `  ${who}`),
    change.rejected ? paint('red', '  refused') : '',
  ].join('')
}

/**
 * Every error in full, leaves first: a parent's error only repeats its children's. Errors of deleted objects are in the
 * result.
 */
function failures(model: TreeModel, { error: why }: WatchResult, paint: Paint, most = 10): string[] {
  const failed = [...model.nodes.values()].filter(({ id, error }) => error !== null && model.isBelow(id))
  const parents = new Set(failed.map(({ parentId }) => parentId))
  const causes = failed.filter(({ id }) => !parents.has(id))
  const tell = (path: string, error: TreeObject['error']): string =>
    paint('red', `✗ ${path}: ${error?.code}: ${error?.message ?? ''}`)
  const lines = [
    ...(model.root || !why ? [] : [tell(model.rootName, why)]),
    ...causes.slice(0, most).map(({ id, error }) => tell(model.pathOf(id), error)),
  ]
  return causes.length > most ? [...lines, `… and ${causes.length - most} more failed`] : lines
}
