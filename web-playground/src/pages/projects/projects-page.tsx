import { useTitle } from '../../ui/title.ts'

/** Projects with what starts their workers, and their secrets, which can be written only. */
export default function ProjectsPage() {
  useTitle('Projects')
  return (
    <div className="page">
      <h1>Projects</h1>
    </div>
  )
}
