import { Suspense, useState } from 'react'
import type { SavedViews } from '../data/saved-views.ts'
import { lazyPart } from './lazy-part.ts'
import type { Menu } from './menu.ts'
import { PaletteDialog } from './palette-dialog.tsx'

const Palette = lazyPart(() => import('./palette.tsx'))

interface Props {
  readonly saved: SavedViews | null
  readonly sections: Menu['sections']
  readonly onClose: () => void
}

/** The palette, whose field is there at once. */
export function Find({ saved, sections, onClose }: Props) {
  const [text, setText] = useState('')
  const typed = { text, onText: setText, onClose }
  return (
    <Suspense fallback={<PaletteDialog {...typed} />}>
      <Palette {...typed} saved={saved} sections={sections} />
    </Suspense>
  )
}
