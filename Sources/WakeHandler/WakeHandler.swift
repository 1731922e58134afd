import WakeModel
