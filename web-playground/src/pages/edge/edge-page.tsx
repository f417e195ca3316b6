import { useTitle } from '../../ui/title.ts'

/** Cloudlets with their clusters and apps. */
export default function EdgePage() {
  useTitle('Edge')
  return (
    <div className="page">
      <h1>Edge</h1>
    </div>
  )
}
