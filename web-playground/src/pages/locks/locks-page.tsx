import { useTitle } from '../../ui/title.ts'

/** Who holds which resource, and who waits for it in which place. */
export default function LocksPage() {
  useTitle('Locks')
  return (
    <div className="page">
      <h1>Locks</h1>
    </div>
  )
}
