import { useCallback, useState } from 'react'
import { Link, useLocation, useSearch } from 'wouter'
import { TreeStore } from '../../data/tree-store.ts'
import { countClasses } from '../../model/phases.ts'
import type { Folds } from '../../model/tree-graph.ts'
import { humanKind, plural } from '../../model/words.ts'
import { treeHref } from '../../ui/links.ts'
import { ClassTally, Phase, Since } from '../../ui/phase.tsx'
import { useLive } from '../../ui/session-context.ts'
import { Empty, Loading, Problem } from '../../ui/states.tsx'
import { useTitle } from '../../ui/title.ts'
import { ObjectPanel } from './object-panel.tsx'
import { TreeCanvas } from './tree-canvas.tsx'
import '../../styles/tree.css'

/** One tree as a graph, and the selected object beside it. */
export default function TreePage({ rootId }: { readonly rootId: string }) {
  const tree = useLive(rootId, (session, signal) => new TreeStore(session, rootId, signal))
  const selected = new URLSearchParams(useSearch()).get('object') ?? rootId
  const [, navigate] = useLocation()
  const [folds, setFolds] = useState<Folds>(new Map())
  const select = useCallback((id: string): void => navigate(treeHref(rootId, id)), [navigate, rootId])
  const fold = useCallback((id: string, to: 'open' | 'closed'): void => {
    setFolds((now) => new Map(now).set(id, to))
  }, [])
  useTitle(tree?.model.root?.name ?? 'Tree')

  if (!tree || (tree.state === 'loading' && !tree.error)) return <Loading what="the tree" />
  if (tree.state === 'loading') return <Problem message={tree.error ?? ''} />
  if (tree.state === 'missing' || !tree.model.root) return <Gone wasHere={tree.state !== 'missing'} />
  return (
    <div className="tree">
      <TreeHead tree={tree} />
      <div className="tree-body">
        <TreeCanvas tree={tree} folds={folds} selected={selected} onSelect={select} onFold={fold} />
        <ObjectPanel key={selected} id={selected} />
      </div>
    </div>
  )
}

function Gone({ wasHere }: { readonly wasHere: boolean }) {
  return (
    <div className="page">
      <Empty title={wasHere ? 'This tree is gone: everything in it was deleted.' : 'There is no such tree.'}>
        {!wasHere && 'It was deleted, or your token does not let you see it. '}
        See <Link href="/objects?roots=yes">what there is</Link>, or <Link href="/log">how it went</Link>.
      </Empty>
    </div>
  )
}

function TreeHead({ tree }: { readonly tree: TreeStore }) {
  const { model } = tree
  const { root } = model
  if (!root) return null
  return (
    <div className="tree-head">
      <h1>{root.name}</h1>
      <span className="quiet">
        {humanKind(root.kind)} in {root.project.name}
      </span>
      <Phase phase={root.phase} />
      <Since at={root.phaseSince} />
      <span className="tree-counts">
        {plural(model.nodes.size, 'object')}{' '}
        <ClassTally counts={countClasses([...model.nodes.values()].map(({ phase }) => phase))} />
        {model.gone > 0 && <span className="quiet"> {plural(model.gone, 'object')} gone</span>}
      </span>
      {tree.error && <Problem message={tree.error} />}
    </div>
  )
}
