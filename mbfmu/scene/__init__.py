"""What a system looks like in motion: glTF with keyframes, a page that shows it, OpenModelica's visual.xml."""
